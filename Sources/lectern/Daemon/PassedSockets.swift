#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Sockets that systemd has bound for the daemon and keeps open over its restarts (sd_listen_fds(3)): `http` takes the place
/// of the setting `http.listen`, `admin` that of `http.admin`.
struct PassedSockets: Sendable {
    /// A socket that cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private static let settings = ["http": "http.listen", "admin": "http.admin"]
    private static let firstDescriptor: CInt = 3

    private var descriptors: [String: CInt] = [:]
    /// Their addresses by the settings that they replace, so that what follows from an address follows from the real one.
    private(set) var addresses: [String: String] = [:]

    var http: CInt? { descriptors["http"] }
    var admin: CInt? { descriptors["admin"] }

    /// - Parameter environment: of this process; its `LISTEN_FDS` count when `LISTEN_PID` is this process.
    init(_ environment: [String: String]) throws(Unusable) {
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap({ CInt($0) }),
            count > 0
        else { return }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        for (index, descriptor) in (Self.firstDescriptor..<Self.firstDescriptor + count).enumerated() {
            // Not for the children that open files.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let name = index < names.count ? String(names[index]) : "unknown"
            guard let setting = Self.settings[name] else {
                throw Unusable(
                    description: """
                        a socket named \(name) is passed; the daemon knows http and admin (FileDescriptorName= of the \
                        socket unit)
                        """)
            }
            guard descriptors[name] == nil else {
                throw Unusable(
                    description: """
                        two sockets named \(name) are passed; the daemon takes one (ListenStream=PORT is one for IPv4 and \
                        IPv6)
                        """)
            }
            guard let address = Self.address(of: descriptor) else {
                throw Unusable(
                    description: "the socket named \(name) is no TCP socket that listens (ListenStream=ADDRESS:PORT)")
            }
            descriptors[name] = descriptor
            addresses[setting] = address
        }
    }

    /// `127.0.0.1:80` or `[::]:80`; nil where it does not listen, or not over TCP.
    private static func address(of descriptor: CInt) -> String? {
        var listens: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0 else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0,
                    [AF_INET, AF_INET6].contains(CInt(address.pointee.sa_family))
                else { return nil }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
                guard
                    getnameinfo(
                        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0
                else { return nil }
                let texts = [host, port].map { text in
                    String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                }
                return texts[0].contains(":") ? "[\(texts[0])]:\(texts[1])" : texts.joined(separator: ":")
            }
        }
    }
}
