import Foundation

/// A TCP port of 127.0.0.1 that nobody listens on.
package enum FreePort {
    /// Finds one outside the range that connections get theirs from, so that it stays free for a while.
    package static func find() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 20_000..<32_000)
            if isFree(port) { return port }
        }
        throw Unexpected("no free port")
    }

    private static func isFree(_ port: Int) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
