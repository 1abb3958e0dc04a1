import TestSupport

/// Puts timed ID3 metadata into an MPEG-TS stream of FFmpeg, which has no way to make it: a further stream in each program
/// map, and packets among the others.
struct TimedMetadata {
    private static let mapPID = 0x1000
    private static let pid = 0x1f0
    private static let packetSize = 188

    /// - Parameter tags: ID3 tags with their times in 90 kHz; spread evenly over the stream.
    static func insert(_ tags: [(time: Int64, tag: [UInt8])], into stream: [UInt8]) throws -> [UInt8] {
        var packets = stride(from: 0, to: stream.count, by: packetSize).map { Array(stream[$0..<$0 + packetSize]) }
        for index in packets.indices where pid(of: packets[index]) == mapPID {
            packets[index] = try extend(packets[index])
        }
        for (number, tag) in tags.enumerated().reversed() {
            let place = max(3, packets.count * number / tags.count)
            packets.insert(try packet(tag.time, tag.tag, counter: number), at: place)
        }
        return Array(packets.joined())
    }

    private static func pid(of packet: [UInt8]) -> Int { Int(packet[1] & 0x1f) << 8 | Int(packet[2]) }

    /// Adds the stream to a program map in a packet of its own.
    private static func extend(_ packet: [UInt8]) throws -> [UInt8] {
        guard packet[3] & 0x30 == 0x10, packet[4] == 0 else { throw Unexpected("an unusual program map") }
        let start = 5
        let size = Int(packet[start + 1] & 0x0f) << 8 | Int(packet[start + 2])
        var section = Array(packet[start..<(start + 3 + size - 4)])
        let descriptor: [UInt8] =
            [0x26, 13, 0xff, 0xff] + Array("ID3 ".utf8) + [0xff] + Array("ID3 ".utf8) + [0, 0x0f]
        section += [0x15, 0xe0 | UInt8(pid >> 8), UInt8(pid & 0xff), 0xf0, UInt8(descriptor.count)] + descriptor
        let length = section.count - 3 + 4
        section[1] = section[1] & 0xf0 | UInt8(length >> 8)
        section[2] = UInt8(length & 0xff)
        let check = crc(section)
        section += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: check >> $0) }
        let result = Array(packet[..<start]) + section
        return result + [UInt8](repeating: 0xff, count: packetSize - result.count)
    }

    private static func packet(_ time: Int64, _ tag: [UInt8], counter: Int) throws -> [UInt8] {
        let stamp: [UInt8] = [
            0x21 | UInt8(time >> 29 & 0x0e), UInt8(time >> 22 & 0xff), UInt8(time >> 14 & 0xfe) | 1,
            UInt8(time >> 7 & 0xff), UInt8(time << 1 & 0xfe) | 1,
        ]
        let length = 3 + stamp.count + tag.count
        let content: [UInt8] =
            [0, 0, 1, 0xbd, UInt8(length >> 8), UInt8(length & 0xff), 0x84, 0x80, UInt8(stamp.count)] + stamp + tag
        // The rest of the packet is an adaptation field of its length, flags and stuffing.
        let padding = packetSize - 4 - content.count
        guard padding >= 2 else { throw Unexpected("the tag does not fit into a packet") }
        let field: [UInt8] = [UInt8(padding - 1), 0] + [UInt8](repeating: 0xff, count: padding - 2)
        return [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xff), 0x30 | UInt8(counter & 15)] + field + content
    }

    /// CRC-32 of MPEG-2.
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte) << 24
            for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04c1_1db7 : crc << 1 }
        }
        return crc
    }
}
