import TestSupport
import VideoTiming

/// A made-up raw stream: units as an encoder writes them, with random contents.
struct SyntheticVideo {
    let codec: VideoCodec
    /// Without start codes.
    private(set) var units: [[UInt8]] = []
    private(set) var pictures = 0

    init(_ codec: VideoCodec, pictures count: Int, _ random: inout SeededGenerator) {
        self.codec = codec
        for _ in 0..<count {
            if random.chance(1, in: 3) { units.append(Self.unit(codec, .delimiter, first: 0xf0, &random)) }
            if random.chance(1, in: 4) { units.append(Self.unit(codec, .parameters, first: 0x42, &random)) }
            for slice in 0..<random.int(1...3) {
                units.append(Self.unit(codec, .slice, first: slice == 0 ? 0x88 : 0x08, &random))
            }
            // An end of sequence is a header alone.
            if random.chance(1, in: 8) { units.append(codec == .h264 ? [10] : [36 << 1, 1]) }
            pictures += 1
        }
    }

    enum Kind { case delimiter, parameters, slice }

    static func header(_ codec: VideoCodec, _ kind: Kind) -> [UInt8] {
        switch (codec, kind) {
        case (.h264, .delimiter): [9]
        case (.h264, .parameters): [0x67]
        case (.h264, .slice): [0x41]
        case (.h265, .delimiter): [35 << 1, 1]
        case (.h265, .parameters): [33 << 1, 1]
        case (.h265, .slice): [1 << 1, 1]
        }
    }

    static func unit(_ codec: VideoCodec, _ kind: Kind, first: UInt8, _ random: inout SeededGenerator) -> [UInt8] {
        var payload: [UInt8] = [first]
        // Many zeros, so that emulation prevention has work to do; a unit never ends with one.
        for _ in 0..<random.int(0...40) { payload.append(random.chance(1, in: 2) ? 0 : UInt8(random.int(0...255))) }
        payload.append(0x80)
        return header(codec, kind) + EmulationPrevention.escape(payload)
    }

    /// With start codes of three or four bytes.
    func raw(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in units { bytes += (random.chance(1, in: 2) ? [0, 0, 1] : [0, 0, 0, 1]) + unit }
        return bytes
    }

    /// With lengths of so many bytes.
    static func measured(_ units: [[UInt8]], _ size: Int) -> [UInt8] {
        units.flatMap { unit -> [UInt8] in
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: unit.count >> (8 * $0)) } + unit
        }
    }

    /// With start codes.
    static func delimited(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { unit -> [UInt8] in [0, 0, 1] + unit } }

    /// The units between start codes.
    static func units(of raw: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        NALFraming.startCodes.forEachUnit(in: raw.span) {
            units.append(Array(raw[$0]))
            return true
        }
        return units
    }
}

extension [UInt8] {
    /// Cut at random places.
    func pieces(_ random: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < count {
            let end = Swift.min(count, start + random.int(1...20))
            pieces.append(Array(self[start..<end]))
            start = end
        }
        return pieces
    }
}

/// An FLV stream of H.264, tag by tag.
struct SyntheticFLV {
    private(set) var bytes: [UInt8] = Array("FLV".utf8) + [1, 1, 0, 0, 0, 9, 0, 0, 0, 0]
    let lengthSize: Int

    init(lengthSize: Int) {
        self.lengthSize = lengthSize
    }

    mutating func appendScript(_ random: inout SeededGenerator) {
        append(18, 0, (0..<random.int(1...50)).map { _ in UInt8(random.int(0...255)) })
    }

    mutating func appendConfiguration() {
        append(9, 0, [0x17, 0, 0, 0, 0, 1, 0x42, 0, 0x1e, 0xfc | UInt8(lengthSize - 1), 0xe1, 0, 0])
    }

    mutating func appendPicture(_ decoding: Int64, _ composition: Int32, _ random: inout SeededGenerator) {
        var units: [[UInt8]] = []
        if random.chance(1, in: 2) { units.append(SyntheticVideo.unit(.h264, .delimiter, first: 0xf0, &random)) }
        units.append(SyntheticVideo.unit(.h264, .slice, first: 0x88, &random))
        units.append(SyntheticVideo.unit(.h264, .slice, first: 0x08, &random))
        let head: [UInt8] = [0x27, 1] + [16, 8, 0].map { UInt8(truncatingIfNeeded: composition >> $0) }
        append(9, decoding, head + SyntheticVideo.measured(units, lengthSize))
    }

    private mutating func append(_ type: UInt8, _ time: Int64, _ body: [UInt8]) {
        let size = [16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
        let stamp = [16, 8, 0, 24].map { UInt8(truncatingIfNeeded: time >> $0) }
        bytes += [type] + size + stamp + [0, 0, 0] + body
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (body.count + 11) >> $0) }
    }

    /// The tags, whose lengths have to agree with one another.
    static func tags(of bytes: [UInt8]) throws -> [[UInt8]] {
        var tags: [[UInt8]] = []
        var index = 13
        while index < bytes.count {
            let size = 11 + bytes[index + 1..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            let again = bytes[index + size..<index + size + 4].reduce(0) { $0 << 8 | Int($1) }
            guard again == size else { throw Unexpected("a tag of \(size) bytes says \(again) behind it") }
            tags.append(Array(bytes[index..<index + size]))
            index += size + 4
        }
        return tags
    }
}
