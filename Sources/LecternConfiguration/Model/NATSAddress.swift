/// Which NATS servers the daemon connects to.
public enum NATSAddress: Sendable, Equatable {
    /// One URL, or several with commas between them: `nats://host:port` or `tls://host:port`, with
    /// `user:password@` before the host where the server asks for it.
    case servers(String)
    /// A nats-server that the daemon starts for itself on 127.0.0.1.
    case embedded

    /// - Returns: nil for a text that is neither `embedded` nor a list of URLs as above.
    public init?(_ text: String) {
        if text == "embedded" {
            self = .embedded
        } else if text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(Self.isURL) {
            self = .servers(text)
        } else {
            return nil
        }
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
    /// The address without user names and passwords, for display.
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
