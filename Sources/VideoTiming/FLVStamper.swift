package import StrokeWire

/// A stream is not FLV.
package struct FLVError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

/// Puts a time into each picture of an FLV stream, in one pass, whatever pieces it comes in: H.264, and H.265 with the
/// FourCC `hvc1`. Other tags pass unchanged.
///
/// One tag is held at a time, 16 MiB at most by its format.
package struct FLVStamper: Sendable {
    /// A picture to be stamped.
    package struct Picture: Sendable, Equatable {
        /// From 0, in the order of the stream.
        package let number: Int
        /// Presentation time in milliseconds. Does not wrap.
        package let presentation: Int64
    }

    private let stamp: PictureStamp
    private var buffer: [UInt8] = []
    private var hasHeader = false
    /// The length fields of the pictures, by codec; nil before the codec's configuration.
    private var framing: [VideoCodec: NALFraming] = [:]
    private var unwrapper = CounterUnwrapper(bits: 32)
    /// The number of pictures so far.
    package private(set) var pictures = 0

    package init(_ stamp: PictureStamp) {
        self.stamp = stamp
    }

    private static let headerSize = 9
    private static let tagHeaderSize = 11

    /// Appends the stamped stream to `output`.
    ///
    /// - Parameter time: gives the time of a picture; called once for each.
    /// - Throws: when the stream does not begin as FLV does.
    package mutating func write(
        _ chunk: Span<UInt8>, into output: inout [UInt8], time: (Picture) -> MediaTime
    ) throws(FLVError) {
        for index in chunk.indices { buffer.append(chunk[index]) }
        var start = 0
        if !hasHeader {
            let signature = Array("FLV".utf8)
            guard signature.starts(with: buffer.prefix(3)) || buffer.starts(with: signature) else {
                throw FLVError(description: "this is no FLV stream: it does not begin with the letters FLV")
            }
            // The header, and the length of the tag before the first.
            guard buffer.count >= Self.headerSize + 4 else { return }
            let size = Int(buffer[8])
            guard size == Self.headerSize, buffer[5..<8].allSatisfy({ $0 == 0 }) else {
                throw FLVError(description: "the header of the FLV stream has another size than 9 bytes")
            }
            start = Self.headerSize + 4
            output += buffer[..<start]
            hasHeader = true
        }
        while let size = tagSize(at: start), buffer.count - start >= size + 4 {
            append(Array(buffer[start..<start + size]), &output, time)
            start += size + 4
        }
        buffer.removeFirst(start)
    }

    /// Appends what is held back at the end of the stream: an incomplete tag.
    package mutating func finish(into output: inout [UInt8]) {
        output += buffer
        buffer = []
    }

    private func tagSize(at start: Int) -> Int? {
        guard buffer.count - start >= Self.tagHeaderSize else { return nil }
        return Self.tagHeaderSize + Int(buffer.bigEndian(3, at: start + 1))
    }

    private mutating func append(_ tag: [UInt8], _ output: inout [UInt8], _ time: (Picture) -> MediaTime) {
        var tag = tag
        if tag[0] & 0x3f == 9, let video = FLVVideo(tag, from: Self.tagHeaderSize) { insertStamp(video, &tag, time) }
        output += tag
        output += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: tag.count >> $0) }
    }

    private mutating func insertStamp(_ video: FLVVideo, _ tag: inout [UInt8], _ time: (Picture) -> MediaTime) {
        guard !video.isConfiguration else {
            framing[video.codec] = NALFraming(
                configuration: Array(tag[video.content...]).span, codec: video.codec)
            return
        }
        guard case .lengths(let lengthSize) = framing[video.codec],
            let slice = firstSlice(video, tag, lengthSize)
        else { return }
        let decoding = unwrapper.unwrap(Int64(tag.bigEndian(3, at: 4) | UInt32(tag[7]) << 24))
        let picture = Picture(number: pictures, presentation: decoding + Int64(video.composition))
        let second = tag[slice + lengthSize + 1]
        let unit = stamp.unit(time(picture), video.codec, slice: second)
        // What cannot be written with so few bytes passes unstamped.
        guard unit.count >> (8 * lengthSize) == 0, tag.count - Self.tagHeaderSize + unit.count + 4 < 1 << 24 else {
            return
        }
        let length = (0..<lengthSize).reversed().map { UInt8(truncatingIfNeeded: unit.count >> (8 * $0)) }
        tag.insert(contentsOf: length + unit, at: slice)
        let size = tag.count - Self.tagHeaderSize
        for index in 0..<3 { tag[1 + index] = UInt8(truncatingIfNeeded: size >> (16 - 8 * index)) }
        pictures += 1
    }

    /// Where the length of the picture's first slice stands.
    private func firstSlice(_ video: FLVVideo, _ tag: [UInt8], _ lengthSize: Int) -> Int? {
        var found: Int?
        let content = tag[video.content...]
        let header = video.codec.headerSize
        NALFraming.lengths(bytes: lengthSize).forEachUnit(in: Array(content).span) { unit in
            let start = content.startIndex + unit.lowerBound
            guard video.codec.kind(ofUnit: tag[start]) == .slice, unit.count > header else { return true }
            if video.codec.beginsPicture(payload: tag[start + header]) { found = start - lengthSize }
            return false
        }
        return found
    }
}

/// The head of a video tag's body, for the codecs whose pictures are stamped.
private struct FLVVideo {
    let codec: VideoCodec
    let isConfiguration: Bool
    /// Presentation time minus decoding time, milliseconds.
    let composition: Int32
    /// Where the NAL units or the configuration begin.
    let content: Int

    init?(_ tag: [UInt8], from start: Int) {
        guard tag.count > start + 5 else { return nil }
        let packet: UInt8
        if tag[start] & 0x80 != 0 {
            // The head as extended for further codecs: type of packet and FourCC.
            guard tag[(start + 1)...].starts(with: "hvc1".utf8) else { return nil }
            codec = .h265
            packet = tag[start] & 0x0f
            switch packet {
            case 0, 3: content = start + 5
            case 1: content = start + 8
            default: return nil
            }
        } else {
            guard tag[start] & 0x0f == 7 else { return nil }
            codec = .h264
            packet = tag[start + 1]
            guard packet <= 1 else { return nil }
            content = start + 5
        }
        guard tag.count > content else { return nil }
        isConfiguration = packet == 0
        composition = packet == 1 ? Int32(bitPattern: tag.bigEndian(3, at: content - 3) << 8) >> 8 : 0
    }
}

extension [UInt8] {
    fileprivate func bigEndian(_ count: Int, at start: Int) -> UInt32 {
        self[start..<start + count].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
