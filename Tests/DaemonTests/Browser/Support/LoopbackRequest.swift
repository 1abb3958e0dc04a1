import Dispatch
import Foundation
import Glibc
import TestSupport

/// One HTTP request over a socket of its own. Foundation's client does not read the headers of chromedriver, which have no
/// space behind the colon.
struct LoopbackRequest: Sendable {
    let port: Int

    /// Sends a request with a JSON body and returns the body of the answer.
    func send(_ method: String, _ path: String, body: String?) async throws -> [UInt8] {
        let body = Array((body ?? "").utf8)
        let head = """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        return try await withCheckedThrowingContinuation { continuation in
            // Blocks until the browser has answered.
            DispatchQueue(label: "webdriver").async {
                continuation.resume(with: Result { try exchange(Array(head.utf8) + body) })
            }
        }
    }

    private func exchange(_ request: [UInt8]) throws -> [UInt8] {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Unexpected("no socket") }
        defer { close(socket) }
        var limit = timeval(tv_sec: 90, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Unexpected("nobody listens on port \(port)") }
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Unexpected("the driver closed the connection") }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let body = try body(of: answer) { return body }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw Unexpected("no whole answer of the driver") }
            answer += buffer[..<count]
        }
    }

    /// The body of an answer; nil while it is not all there.
    private func body(of answer: [UInt8]) throws -> [UInt8]? {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
        guard let length = head.firstMatch(of: /content-length: *([0-9]+)/).flatMap({ Int($0.1) }) else {
            throw Unexpected("no length in: \(head)")
        }
        let body = answer[end.upperBound...]
        return body.count >= length ? Array(body.prefix(length)) : nil
    }
}
