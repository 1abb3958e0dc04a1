internal import Hummingbird
internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An IP address, or all that begin with the same bits: `10.0.0.0/8`, `::1`.
public struct AddressRange: Sendable, Equatable {
    private let bytes: [UInt8]
    private let bits: Int

    static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }

    /// - Returns: nil for a text of any other form.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = Self.parse(String(parts[0])) else { return nil }
        let all = 8 * bytes.count
        // An IPv4 address that is written as one of IPv6 has 96 bits before it.
        let before = bytes.count == 4 && parts[0].contains(":") ? 96 : 0
        guard let bits = parts.count == 1 ? all : Int(digits: parts[1]).map({ $0 - before }), 0...all ~= bits else {
            return nil
        }
        (self.bytes, self.bits) = (bytes, bits)
    }

    /// Whether an address lies in the range; an IPv4 address that is written as one of IPv6 counts as the former.
    func contains(_ address: String) -> Bool {
        guard let other = Self.parse(address), other.count == bytes.count else { return false }
        let whole = bits / 8
        guard other[..<whole] == bytes[..<whole] else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> (bits % 8))
        return other[whole] & mask == bytes[whole] & mask
    }

    private static func parse(_ text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]
        return sixteen.starts(with: mapped) ? Array(sixteen[12...]) : sixteen
    }
}

extension Request {
    private static let forwardedFor = HTTPFields.Element.Name("X-Forwarded-For")!

    /// The address of the client: that of the connection, unless it is a proxy's; then the last one in `X-Forwarded-For`
    /// that is no proxy's. What stands before it was sent by the client, who may claim anything.
    func clientAddress(_ channel: any Channel, proxies: [AddressRange]) -> String {
        var address = channel.remoteAddress?.ipAddress ?? ""
        guard !proxies.isEmpty else { return address }
        var forwarded: [String] = []
        for field in headers[values: Self.forwardedFor] {
            forwarded += field.split(separator: ",").map { String($0.filter { $0 != " " }) }
        }
        while proxies.contains(where: { $0.contains(address) }), let last = forwarded.popLast() {
            guard AddressRange(last) != nil, !last.contains("/") else { break }
            address = last
        }
        return address
    }
}
