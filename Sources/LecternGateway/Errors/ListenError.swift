internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Why the gateway cannot listen where it is to.
public struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name or address that was asked for.
    public let host: String
    /// The port that was asked for.
    public let port: Int
    /// What is in the way, in a few words.
    public let reason: String

    /// - Returns: nil for an error of another kind.
    init?(_ error: any Error, host: String, port: Int) {
        switch error {
        case let error as IOError:
            guard let reason = Self.reason(error.errnoCode) else { return nil }
            self.reason = reason
        case is SocketAddressError.UnknownHost:
            reason = "the name has no address"
        default:
            return nil
        }
        self.host = host
        self.port = port
    }

    /// One line for a person.
    public var description: String {
        "cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(reason)"
    }

    /// What only binding a socket fails with.
    private static func reason(_ code: Int32) -> String? {
        switch code {
        case EADDRINUSE: "the port is taken"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES: "permission denied"
        default: nil
        }
    }
}
