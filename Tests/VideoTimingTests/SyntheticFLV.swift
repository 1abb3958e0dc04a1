import TestSupport
import VideoTiming

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
