/// One number of each point, along a stroke: all with the same decimals, each kept as its difference from the straight
/// continuation of the two before it.
struct Column {
    private var most = 0
    private var least = DecimalText.mostDigits
    private var last: Int64 = 0
    private var step: Int64 = 0
    private var isFirst = true

    init() {}

    /// Makes the decimals reach for a number.
    mutating func fit(_ number: DecimalText) {
        most = max(most, number.decimals)
        least = min(least, number.decimals)
    }

    func write(into writer: inout NibbleWriter) {
        writer.write(UInt64(most))
        writer.write(UInt64(least))
    }

    init(from reader: inout NibbleReader) {
        most = Int(reader.read())
        least = Int(reader.read())
    }

    /// - Returns: false for a number that would not come back byte for byte.
    mutating func write(_ number: DecimalText, into writer: inout NibbleWriter) -> Bool {
        guard number.isTrimmed(to: least) else { return false }
        var value = number.mantissa
        for _ in number.decimals..<most {
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return false }
            value = scaled
        }
        writer.write(signed: value &- (last &+ step))
        follow(value)
        return true
    }

    mutating func read(from reader: inout NibbleReader) -> DecimalText {
        let value = last &+ step &+ reader.readSigned()
        follow(value)
        return DecimalText(mantissa: value, decimals: most).trimmed(to: least)
    }

    private mutating func follow(_ value: Int64) {
        step = isFirst ? 0 : value &- last
        last = value
        isFirst = false
    }
}
