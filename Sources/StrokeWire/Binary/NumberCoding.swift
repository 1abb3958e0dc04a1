/// A JSON number as its digits: `mantissa` · 10^−`decimals`. Reads only numbers that are printed as they were.
struct DecimalText: Equatable {
    var mantissa: Int64
    /// Digits after the point, 0 … 15.
    var decimals: Int

    static let maximumDigits = 15
    /// The greatest magnitude of a mantissa: a double holds it, and four times as much, exactly.
    static let greatestMantissa: UInt64 = 999_999_999_999_999

    /// Reads a number at `position` and moves behind it.
    /// - Returns: nil for a number that would not be printed as it was: with an exponent, a negative zero, or more digits
    ///   than a double has; and for what is no number of JSON.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        var at = position
        let isNegative = at < bytes.count && bytes[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let hasLeadingZero = at < bytes.count && bytes[at] == UInt8(ascii: "0")
        var value: Int64 = 0
        var digits = 0
        var point: Int?
        scan: while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                guard digits <= Self.maximumDigits else { return nil }
                value = value * 10 + Int64(bytes[at] - UInt8(ascii: "0"))
            case UInt8(ascii: "."):
                guard point == nil, digits > 0 else { return nil }
                point = digits
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            default: break scan
            }
            at += 1
        }
        guard digits > 0, !(isNegative && value == 0), digits != point, !hasLeadingZero || (point ?? digits) == 1 else {
            return nil
        }
        mantissa = isNegative ? -value : value
        decimals = point.map { digits - $0 } ?? 0
        position = at
    }

    init(mantissa: Int64, decimals: Int) { (self.mantissa, self.decimals) = (mantissa, decimals) }

    /// Whether ``trimmed(to:)`` would return the same.
    func isTrimmed(to least: Int) -> Bool { decimals == least || mantissa % 10 != 0 }

    /// The same value without trailing zeros, but with at least `least` decimals.
    func trimmed(to least: Int) -> DecimalText {
        var text = self
        while text.decimals > least, text.mantissa % 10 == 0 {
            text.mantissa /= 10
            text.decimals -= 1
        }
        return text
    }

    /// Number of bytes that ``append(to:)`` appends.
    var byteCount: Int {
        let value = mantissa.magnitude
        var place: UInt64 = 10
        var digits = 1
        while place <= value {
            place *= 10
            digits += 1
        }
        return max(digits, decimals + 1) + (decimals > 0 ? 1 : 0) + (mantissa < 0 ? 1 : 0)
    }

    func append(to bytes: inout [UInt8]) {
        if mantissa < 0 { bytes.append(UInt8(ascii: "-")) }
        let value = mantissa.magnitude
        // At least one digit stands before the point.
        var place: UInt64 = 1
        var digits = 1
        while digits <= decimals || place <= value / 10 {
            place *= 10
            digits += 1
        }
        var left = value
        while digits > 0 {
            if digits == decimals { bytes.append(UInt8(ascii: ".")) }
            bytes.append(UInt8(ascii: "0") + UInt8(left / place))
            left %= place
            place /= 10
            digits -= 1
        }
    }
}

/// The numbers under one key of a stroke's points. All have the same decimals; each is kept as its difference from the
/// straight continuation of the two before.
struct PointColumn {
    private var greatest = 0
    private var least = DecimalText.maximumDigits
    private var last: Int64 = 0
    private var step: Int64 = 0
    private var isFirst = true
    /// Whether no value read was beyond ``DecimalText/greatestMantissa``.
    private(set) var isExact = true

    /// Digits after the point of every value.
    var decimals: Int { greatest }

    init() {}

    /// Counts the decimals of a number.
    mutating func fit(_ number: DecimalText) {
        greatest = max(greatest, number.decimals)
        least = min(least, number.decimals)
    }

    func write(into writer: inout NibbleWriter) {
        writer.write(UInt64(greatest))
        writer.write(UInt64(least))
    }

    /// Numbers from outside may be of any size: those beyond ``DecimalText/maximumDigits`` are for the caller to refuse.
    init(from reader: inout NibbleReader) {
        greatest = Int(clamping: reader.read())
        least = Int(clamping: reader.read())
    }

    /// - Returns: false for a number that would not be printed as it was.
    mutating func write(_ number: DecimalText, into writer: inout NibbleWriter) -> Bool {
        guard number.isTrimmed(to: least) else { return false }
        var value = number.mantissa
        for _ in number.decimals..<greatest {
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return false }
            value = scaled
        }
        guard value.magnitude <= DecimalText.greatestMantissa else { return false }
        writer.write(signed: value &- (last &+ step))
        follow(value)
        return true
    }

    mutating func read(from reader: inout NibbleReader) -> DecimalText {
        DecimalText(mantissa: readMantissa(from: &reader), decimals: greatest).trimmed(to: least)
    }

    /// Reads a value as an integer of 10^−``decimals``.
    @inline(__always)
    mutating func readMantissa(from reader: inout NibbleReader) -> Int64 {
        let value = last &+ step &+ reader.readSigned()
        if value.magnitude > DecimalText.greatestMantissa { isExact = false }
        follow(value)
        return value
    }

    @inline(__always)
    private mutating func follow(_ value: Int64) {
        step = isFirst ? 0 : value &- last
        last = value
        isFirst = false
    }
}

/// Writes integers in half bytes into the caller's memory: three bits of the value, lowest first, and one that tells
/// whether more follow. Small numbers, such as the differences of handwriting, take half a byte or one.
struct NibbleWriter {
    /// The greatest number of bytes of one integer.
    static let maximumBytes = 11

    private let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var count = 0

    /// - Parameters:
    ///   - memory: ``maximumBytes`` longer than `capacity`.
    ///   - capacity: bytes that may be written. Writes beyond are ignored.
    init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
        (self.memory, self.capacity) = (memory, capacity)
    }

    /// Whether `capacity` is reached.
    var isFull: Bool { count >> 1 >= capacity }

    /// The bytes written.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: (count &+ 1) >> 1)) }

    mutating func write(_ value: UInt64) {
        guard !isFull else { return }
        var rest = value
        repeat {
            let bits = UInt8(truncatingIfNeeded: rest & 7)
            rest >>= 3
            let nibble = bits | (rest == 0 ? 0 : 8)
            let byte = memory + (count >> 1)
            if count & 1 == 0 { byte.initialize(to: nibble) } else { byte.pointee |= nibble << 4 }
            count &+= 1
        } while rest != 0
    }

    mutating func write(signed value: Int64) { write(UInt64(zigzag: value)) }
}

/// Reads what ``NibbleWriter`` wrote, in the same order. Traps at the end of the bytes: ``count`` tells how much there is.
struct NibbleReader {
    private let bytes: [UInt8]
    /// In half bytes.
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        position = 2 * range.lowerBound
        end = 2 * range.upperBound
    }

    /// Number of integers that are left, a half byte that fills the last byte included.
    var count: Int {
        bytes[position >> 1..<end >> 1].reduce(-(position & 1)) {
            $0 + ($1 & 0x08 == 0 ? 1 : 0) + ($1 & 0x80 == 0 ? 1 : 0)
        }
    }

    /// Whether nothing is left but a zero that fills the last byte.
    var isAtEnd: Bool { position == end || position == end - 1 && bytes[position >> 1] < 0x10 }

    @inline(__always)
    mutating func read() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = bytes[position >> 1]
            let nibble = byte >> UInt8(truncatingIfNeeded: position << 2 & 4)
            position &+= 1
            value |= UInt64(nibble & 7) << shift
            if nibble & 8 == 0 { return value }
            shift &+= 3
        }
    }

    @inline(__always)
    mutating func readSigned() -> Int64 { Int64(zigzag: read()) }
}

/// Integers of seven bits a byte, lowest first; the highest bit tells whether more follow (LEB128).
package enum Varint {
    /// Appends an integer, one to ten bytes.
    @inlinable
    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Reads an integer at `position` and moves behind it.
    /// - Returns: nil where the bytes end within it, or where it is greater than 64 bits have.
    @inlinable
    package static func read(_ bytes: [UInt8], _ position: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            guard shift < 63 || byte <= 1 else { return nil }
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}

/// Signed integers as unsigned ones, small where they are near zero: 0, −1, 1, −2, …
extension UInt64 {
    package init(zigzag value: Int64) { self.init(bitPattern: (value << 1) ^ (value >> 63)) }
}

extension Int64 {
    package init(zigzag value: UInt64) {
        self = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}
