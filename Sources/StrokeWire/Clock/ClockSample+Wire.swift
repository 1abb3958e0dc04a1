extension ClockSample {
    private static let keys = ["m", "q", "ep", "r", "s", "st", "d", "b", "w"]

    /// Reads a sample. Keys that are not known are ignored; `w` only has to be a number.
    /// - Throws: what the first fault is, in the order in which the properties stand here.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys, limit: 4096)
        guard let milliseconds = try body.number("m", in: -0x1p53...0x1p53) else { throw .missing("m") }
        guard let media = MediaTime(milliseconds: milliseconds) else {
            throw .outOfRange("m", "between -2^53 and 2^53")
        }
        self.media = media
        let safe = Int64.largestSafe
        number = try body.integer("q", in: (-safe - 1)...(safe + 1))
        epoch = try body.integer("ep", in: 0...safe)
        rate = Int(try body.integer("r", in: 0...2000) ?? 1000)
        state = body["s"] == nil ? .play : try body.required("s", "play, pause, stall or end") { State(rawValue: $0) }
        stream = try body.string("st", limit: 64) ?? ""
        isDiscontinuity = try body.bool("d") ?? false
        let bits = try body.integer("b", in: 32...33)
        wrapBits = bits.map(Int.init)
        _ = try body["w"].number("w", bytes.span)
    }

    /// Writes a sample; what has its default is left out.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"m\":")
        bytes.append(time: media)
        append(",\"q\":", number, to: &bytes)
        append(",\"ep\":", epoch, to: &bytes)
        append(",\"r\":", rate == 1000 ? nil : rate, to: &bytes)
        if state != .play {
            bytes.append(",\"s\":")
            bytes.append(string: state.rawValue)
        }
        if !stream.isEmpty {
            bytes.append(",\"st\":")
            bytes.append(string: stream)
        }
        if isDiscontinuity { bytes.append(",\"d\":true") }
        append(",\"b\":", wrapBits, to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private func append(_ key: StaticString, _ value: (some FixedWidthInteger)?, to bytes: inout [UInt8]) {
        guard let value else { return }
        bytes.append(key)
        bytes.append(integer: value)
    }
}
