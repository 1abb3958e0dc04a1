/// The NATS servers that the daemon connects to.
public enum NATSAddress: Sendable, Equatable {
    /// One URL, or several of one kind with commas between them: `nats://host:port` or `tls://host:port`, with
    /// `user:password@` before the host where the server asks for it. Both are percent-decoded.
    case servers(String)
    /// A nats-server that the daemon starts on 127.0.0.1.
    case embedded

    /// - Returns: nil for a text that is neither `embedded` nor a list of such URLs.
    public init?(_ text: String) {
        if text == "embedded" {
            self = .embedded
        } else if text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(Self.isURL),
            Set(text.split(separator: ",").map { $0.hasPrefix("tls://") }).count == 1
        {
            self = .servers(text)
        } else {
            return nil
        }
    }

    /// Whether no URL names a user.
    var carriesNoUser: Bool {
        guard case .servers(let text) = self else { return true }
        return !text.contains("@")
    }

    private static func isURL(_ text: Substring) -> Bool {
        for scheme in ["nats://", "tls://"] where text.hasPrefix(scheme) {
            let authority = text.dropFirst(scheme.count)
            let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
            return !authority.contains(where: \.isWhitespace)
                && (ListenAddress(place) != nil || ListenAddress("\(place):4222") != nil)
        }
        return false
    }
}

extension NATSAddress: CustomStringConvertible {
    /// The address without users and passwords, for display.
    public var description: String {
        switch self {
        case .embedded: "embedded"
        case .servers(let text):
            text.split(separator: ",").map { url in
                guard let end = url.lastIndex(of: "@") else { return String(url) }
                return url.prefix(while: { $0 != "/" }) + "//***" + url[end...]
            }.joined(separator: ",")
        }
    }
}

/// A host and a TCP port, written `127.0.0.1:8080`, `localhost:8080` or `[::1]:8080`.
public struct ListenAddress: Sendable, Equatable {
    /// Name or address, without the brackets of an IPv6 address.
    public var host: String
    /// 0 … 65535; 0 lets the system choose.
    public var port: Int

    static let standard = ListenAddress(host: "127.0.0.1", port: 8080)
}

extension ListenAddress {
    /// - Returns: nil for a text of any other form. The host is not looked up.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isDigit), let port = UInt16(digits) else {
            return nil
        }
        let place = text[..<colon]
        if place.hasPrefix("["), place.hasSuffix("]") {
            host = String(place.dropFirst().dropLast())
            guard host.contains(":"), host.utf8.allSatisfy(\.isOfIPv6Address) else { return nil }
        } else {
            host = String(place)
            guard !host.isEmpty, host.utf8.allSatisfy(\.isOfHostName) else { return nil }
        }
        self.port = Int(port)
    }

    /// Whether only this machine reaches it.
    var isLoopback: Bool {
        host.lowercased() == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}

extension ListenAddress: CustomStringConvertible {
    /// The address in the form above.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    private var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    fileprivate var isOfHostName: Bool {
        isDigit || isLetter || self == UInt8(ascii: ".") || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }

    fileprivate var isOfIPv6Address: Bool {
        // A zone may follow the address, as in fe80::1%eth0.
        isOfHostName || self == UInt8(ascii: ":") || self == UInt8(ascii: "%")
    }
}
