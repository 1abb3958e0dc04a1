/// A host and a TCP port, written `127.0.0.1:8080`, `localhost:8080` or `[::1]:8080`.
public struct ListenAddress: Sendable, Equatable {
    /// Name or address, without the brackets of an IPv6 address.
    public var host: String
    /// 0 … 65535; 0 lets the system choose.
    public var port: Int

    static let standard = ListenAddress(host: "127.0.0.1", port: 8080)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Returns: nil for a text that is written otherwise. Whether the host exists shows when it is used.
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
}

extension ListenAddress: CustomStringConvertible {
    /// As it is written.
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
