/// A coded video format whose pictures can carry a time.
package enum VideoCodec: String, Sendable, CaseIterable {
    /// ITU-T H.264, AVC.
    case h264
    /// ITU-T H.265, HEVC.
    case h265

    /// Bytes of a NAL unit's header.
    package var headerSize: Int { self == .h264 ? 1 : 2 }

    /// What a NAL unit holds, as far as times are concerned.
    package enum UnitKind: Sendable, Equatable {
        /// A slice of a picture.
        case slice
        /// Supplemental enhancement information ahead of a picture.
        case information
        case other
    }

    /// - Parameter header: first byte of the NAL unit.
    package func kind(ofUnit header: UInt8) -> UnitKind {
        switch self {
        case .h264:
            switch header & 0x1f {
            case 1, 2, 5: .slice
            case 6: .information
            default: .other
            }
        case .h265:
            switch (header >> 1) & 0x3f {
            case 0...9, 16...21: .slice
            case 39: .information
            default: .other
            }
        }
    }

    /// Whether a slice is the first of its picture. Slices in arbitrary order, which only H.264's baseline profile
    /// knows and no encoder in use makes, are not recognised.
    ///
    /// - Parameter payload: first byte after the NAL unit's header.
    package func beginsPicture(payload: UInt8) -> Bool {
        // H.264: first_mb_in_slice is 0, which is one set bit. H.265: first_slice_segment_in_pic_flag.
        payload & 0x80 != 0
    }
}

/// How NAL units are delimited.
package enum NALFraming: Sendable, Equatable {
    /// Start codes, as in MPEG-TS and raw streams.
    case startCodes
    /// A big-endian length of 1, 2 or 4 bytes, as in FLV and MP4.
    case lengths(bytes: Int)

    /// From the codec's configuration: an `avcC` or `hvcC` record means lengths, anything else start codes.
    package init(configuration: Span<UInt8>, codec: VideoCodec) {
        let place = codec == .h264 ? 4 : 21
        if configuration.count > place, configuration[0] == 1 {
            self = .lengths(bytes: Int(configuration[place] & 3) + 1)
        } else {
            self = .startCodes
        }
    }

    /// Calls `body` with the range of each NAL unit, without start code or length, until it returns false. What
    /// reaches beyond the end is cut off there.
    package func forEachUnit(in bytes: Span<UInt8>, _ body: (Range<Int>) -> Bool) {
        switch self {
        case .startCodes: Self.forEachDelimited(in: bytes, body)
        case .lengths(let size): Self.forEachMeasured(in: bytes, size, body)
        }
    }

    private static func forEachDelimited(in bytes: Span<UInt8>, _ body: (Range<Int>) -> Bool) {
        var start: Int?
        var zeros = 0
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == 0 {
                zeros += 1
                continue
            }
            if byte == 1, zeros >= 2 {
                if let start, start < index - zeros, !body(start..<index - zeros) { return }
                start = index + 1
            }
            zeros = 0
        }
        if let start, start < bytes.count - zeros { _ = body(start..<bytes.count - zeros) }
    }

    private static func forEachMeasured(in bytes: Span<UInt8>, _ size: Int, _ body: (Range<Int>) -> Bool) {
        var index = 0
        while index + size < bytes.count {
            var length = 0
            for offset in 0..<size { length = length << 8 | Int(bytes[index + offset]) }
            let start = index + size
            let end = min(start + length, bytes.count)
            if start < end, !body(start..<end) { return }
            index = end
        }
    }
}

/// Emulation prevention: a payload must not contain what looks like a start code.
package enum EmulationPrevention {
    /// Inserts a 3 after two zeros that a byte of 0 … 3 follows.
    package static func escape(_ payload: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(payload.count + payload.count / 2)
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte <= 3 {
                escaped.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            escaped.append(byte)
        }
        return escaped
    }

    /// Removes each 3 that follows two zeros.
    package static func unescape(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(range.count)
        var zeros = 0
        for index in range {
            let byte = bytes[index]
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        return payload
    }
}
