package import StrokeWire

/// A 128-bit identifier of what a piece of user data means.
package struct UserDataID: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Reads 32 hexadecimal digits, hyphens among them or not.
    package init?(_ text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16),
                digits[index] != UInt8(ascii: "+")
            else { return nil }
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    /// - Parameter bytes: sixteen.
    init(bytes: [UInt8]) {
        precondition(bytes.count == 16)
        self.bytes = bytes
    }

    /// The identifier of Lectern's own time stamps: 2d5c8a1e-7b34-4f0d-9c62-e1a80b97f456.
    package static let lectern = UserDataID(bytes: [
        0x2d, 0x5c, 0x8a, 0x1e, 0x7b, 0x34, 0x4f, 0x0d, 0x9c, 0x62, 0xe1, 0xa8, 0x0b, 0x97, 0xf4, 0x56,
    ])
    /// MISB ST 0604, microseconds in H.264: the letters `MISPmicrosectime`.
    package static let misbMicroseconds = UserDataID(bytes: Array("MISPmicrosectime".utf8))
    /// MISB ST 0604, microseconds in H.265.
    package static let misbMicrosecondsH265 = UserDataID(bytes: [
        0xa8, 0x68, 0x7d, 0xd4, 0xd7, 0x59, 0x37, 0x58, 0xa5, 0xce, 0xf0, 0x33, 0x8b, 0x65, 0x45, 0xf1,
    ])
    /// MISB ST 0604, nanoseconds in H.265.
    package static let misbNanosecondsH265 = UserDataID(bytes: [
        0xcf, 0x84, 0x82, 0x78, 0xee, 0x23, 0x30, 0x6c, 0x92, 0x65, 0xe8, 0xfe, 0xf2, 0x2f, 0xb8, 0xb8,
    ])

    /// Whether the payload is a precision time stamp of MISB ST 0604.
    package var isMISB: Bool {
        self == .misbMicroseconds || self == .misbMicrosecondsH265 || self == .misbNanosecondsH265
    }
}

extension UserDataID: CustomStringConvertible {
    package var description: String {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]].map { $0.joined() }
            .joined(separator: "-")
    }
}

/// How a media time is written into metadata of a video.
package enum TimeForm: Sendable, Equatable {
    /// Milliseconds as 8 bytes, big-endian, signed.
    case binary
    /// Milliseconds as a decimal number in ASCII.
    case text
    /// Milliseconds as a member of a JSON object.
    case json(key: String)
    /// The precision time stamp of MISB ST 0604: a status byte, and microseconds in 8 bytes with 0xFF after each two.
    case misb

    /// The time as bytes.
    package func write(_ time: MediaTime) -> [UInt8] {
        let milliseconds = time.microseconds / 1000
        switch self {
        case .binary: return Self.bigEndian(UInt64(bitPattern: milliseconds))
        case .text: return Array(String(milliseconds).utf8)
        case .json(let key):
            var bytes: [UInt8] = [UInt8(ascii: "{")]
            bytes.append(string: key)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(integer: milliseconds)
            bytes.append(UInt8(ascii: "}"))
            return bytes
        case .misb:
            let time = Self.bigEndian(UInt64(bitPattern: time.microseconds))
            // Status: whether the clock is locked to UTC is not known; no discontinuity; reserved bits set.
            return [0x9f, time[0], time[1], 0xff, time[2], time[3], 0xff, time[4], time[5], 0xff, time[6], time[7]]
        }
    }

    /// Reads a time in any of the forms; nil where there is none, or one beyond ±2⁵³ ms.
    ///
    /// Which form it is shows in the bytes: text begins with a sign or a digit, and as a number of 8 bytes that would
    /// lie beyond the range.
    ///
    /// - Parameters:
    ///   - identifier: of the user data, where it has one; it decides whether the payload is MISB's.
    ///   - key: the member of a JSON object to read.
    package static func read(_ payload: [UInt8], identifier: UserDataID? = nil, key: String) -> MediaTime? {
        if let identifier, identifier.isMISB {
            return misb(payload, unitsPerMicrosecond: identifier == .misbNanosecondsH265 ? 1000 : 1)
        }
        if payload.count == 8, let time = binary(payload) { return time }
        let text = payload.trimmed
        if text.first == UInt8(ascii: "{") {
            return JSONField.number(key, in: Array(text)).flatMap { MediaTime(milliseconds: $0) }
        }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let first = text.first, text.count <= 32, isDigit(first) || first == UInt8(ascii: "-"),
            text.allSatisfy({ isDigit($0) || "+-.eE".utf8.contains($0) })
        else { return nil }
        return Double(String(decoding: text, as: UTF8.self)).flatMap { MediaTime(milliseconds: $0) }
    }

    private static func binary(_ payload: [UInt8]) -> MediaTime? {
        let milliseconds = Int64(bitPattern: payload.reduce(0) { $0 << 8 | UInt64($1) })
        return milliseconds.magnitude <= 1 << 53 ? MediaTime(milliseconds: milliseconds) : nil
    }

    private static func misb(_ payload: [UInt8], unitsPerMicrosecond: UInt64) -> MediaTime? {
        guard payload.count >= 12, payload[3] == 0xff, payload[6] == 0xff, payload[9] == 0xff else { return nil }
        let units = [1, 2, 4, 5, 7, 8, 10, 11].reduce(UInt64(0)) { $0 << 8 | UInt64(payload[$1]) }
        let microseconds = units / unitsPerMicrosecond
        return microseconds <= (1 << 53) * 1000 ? MediaTime(microseconds: Int64(microseconds)) : nil
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
    }
}

extension [UInt8] {
    /// Without blanks, line ends and zeros at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0 || byte == 0x20 || (0x09...0x0d).contains(byte) }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return []
        }
        return self[first...last]
    }
}
