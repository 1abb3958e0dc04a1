/// The URL of a NATS server.
///
/// A user's name and password are percent-decoded. A `%` without two hexadecimal digits after it stands for itself, as
/// do `@`, `:` and `/` in a password: the last `@` ends it. A comma must be written `%2C`, and a `%` before two
/// hexadecimal digits `%25`. A name cannot contain a colon.
public struct ServerURL: Sendable, Equatable {
    /// Whether the scheme is `tls`.
    public var isSecure: Bool
    public var user: String?
    public var password: String?
    /// `host`, `host:port` or `[::1]:port`.
    public var address: String

    /// Parses a URL with `nats://`, `tls://` or no scheme, which means `nats://`.
    /// - Throws: `.invalidSettings`, without the text, which may contain a password.
    public init(_ text: some StringProtocol) throws(NATSError) {
        let (scheme, rest) = Self.split(text, at: "://")
        switch scheme {
        case "nats", nil: isSecure = false
        case "tls": isSecure = true
        default: throw .invalidSettings("a NATS URL begins with nats:// or tls://")
        }
        var address = Substring(rest)
        if let end = address.lastIndex(of: "@") {
            let account = address[..<end]
            address = address[address.index(after: end)...]
            let (first, second) = Self.split(account, at: ":")
            user = try Self.decode(first.map { Substring($0) } ?? Substring(second))
            password = first == nil ? nil : try Self.decode(Substring(second))
        }
        if address.last == "/" { address.removeLast() }
        guard !address.isEmpty, !address.contains(where: { $0 == "/" || $0.isWhitespace }) else {
            throw .invalidSettings("a NATS URL is nats://host:port or tls://host:port, maybe with user:password@")
        }
        guard user?.contains(":") != true else {
            throw .invalidSettings("the name of a NATS user cannot contain a colon")
        }
        self.address = String(address)
    }

    /// Parses URLs separated by commas.
    /// - Throws: `.invalidSettings`, also for a list with both schemes.
    public static func list(_ text: String) throws(NATSError) -> [ServerURL] {
        let urls = try text.split(separator: ",").map { url throws(NATSError) in
            try ServerURL(String(url.filter { !$0.isWhitespace }))
        }
        guard let first = urls.first else { throw .invalidSettings("no NATS URL") }
        guard urls.allSatisfy({ $0.isSecure == first.isSecure }) else {
            throw .invalidSettings("nats:// and tls:// in one list: messages would go out in plain text now and then")
        }
        return urls
    }

    /// The URL for libnats, which does not percent-decode what is before the last `@`.
    var raw: String {
        var account = user?.escapedForJSON ?? ""
        if let password { account += ":" + password.escapedForJSON }
        return "nats://" + (account.isEmpty ? "" : account + "@") + address
    }

    /// The text before and after the first separator; without a separator all of it is `second`.
    private static func split(_ text: some StringProtocol, at separator: String) -> (first: String?, second: String) {
        let parts = text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (nil, String(text)) }
        return (String(parts[0]), String(parts[1]))
    }

    private static func decode(_ text: Substring) throws(NATSError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let escaped = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.prefix(2).count == 2, rest.first != UInt8(ascii: "+")
            {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !decoded.utf8.contains(0) else {
            throw .invalidSettings("user and password in a NATS URL are UTF-8")
        }
        return decoded
    }
}

extension String {
    /// Escaped as inside a JSON string: libnats 3.4.1 puts users, passwords and tokens between quotation marks without
    /// escaping them.
    var escapedForJSON: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
