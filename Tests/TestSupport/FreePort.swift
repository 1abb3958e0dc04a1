import Foundation

/// A TCP port that nobody listens on.
package enum FreePort {
    package static func find() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 ? getsockname(socket, $0, &size) : -1
            }
        }
        guard status == 0 else { throw Unexpected("no free port: \(errno)") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
