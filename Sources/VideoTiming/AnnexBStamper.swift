package import StrokeWire

/// What a stamper puts into each picture.
package struct PictureStamp: Sendable, Equatable {
    package var identifier: UserDataID
    package var form: TimeForm

    package init(identifier: UserDataID? = nil, form: TimeForm = .binary) {
        self.identifier = identifier ?? (form == .misb ? .misbMicroseconds : .lectern)
        self.form = form
    }

    func unit(_ time: MediaTime, _ codec: VideoCodec, slice: UInt8) -> [UInt8] {
        SEIMessages.unit(UserData(identifier: identifier, payload: form.write(time)), codec, slice: slice)
    }
}

/// Puts a time into each picture of a raw H.264 or H.265 stream, in one pass, whatever pieces it comes in.
///
/// The stamp stands directly before the picture's first slice. All other bytes pass unchanged; at most a start code and
/// three bytes are held back.
package struct AnnexBStamper: Sendable {
    private let codec: VideoCodec
    private let stamp: PictureStamp
    /// Zeros that may belong to a start code.
    private var zeros = 0
    /// The first bytes of a unit after its start code; nil within one.
    private var header: [UInt8]?
    /// The number of pictures so far.
    package private(set) var pictures = 0

    package init(_ codec: VideoCodec, _ stamp: PictureStamp) {
        self.codec = codec
        self.stamp = stamp
    }

    /// Appends the stamped stream to `output`.
    ///
    /// - Parameter time: gives the time of a picture by its number, from 0; called once for each.
    package mutating func write(_ chunk: Span<UInt8>, into output: inout [UInt8], time: (Int) -> MediaTime) {
        for index in chunk.indices { take(chunk[index], &output, time) }
    }

    /// Appends what is held back at the end of the stream.
    package mutating func finish(into output: inout [UInt8]) {
        if let header {
            appendStartCode(&output)
            output += header
        } else {
            appendZeros(&output)
        }
        header = nil
        zeros = 0
    }

    private mutating func take(_ byte: UInt8, _ output: inout [UInt8], _ time: (Int) -> MediaTime) {
        if header != nil {
            header?.append(byte)
            if let unit = header, unit.count > codec.headerSize { begin(unit, &output, time) }
        } else if byte == 0 {
            zeros += 1
        } else if byte == 1, zeros >= 2 {
            header = []
        } else {
            appendZeros(&output)
            output.append(byte)
        }
    }

    private mutating func begin(_ unit: [UInt8], _ output: inout [UInt8], _ time: (Int) -> MediaTime) {
        if codec.kind(ofUnit: unit[0]) == .slice, codec.beginsPicture(payload: unit[codec.headerSize]) {
            output += [0, 0, 0, 1]
            output += stamp.unit(time(pictures), codec, slice: unit[1])
            pictures += 1
        }
        header = nil
        appendStartCode(&output)
        output.append(unit[0])
        // A unit may be shorter than what was collected: the rest may begin the next start code.
        for byte in unit.dropFirst() { take(byte, &output, time) }
    }

    private mutating func appendZeros(_ output: inout [UInt8]) {
        for _ in 0..<zeros { output.append(0) }
        zeros = 0
    }

    private mutating func appendStartCode(_ output: inout [UInt8]) {
        appendZeros(&output)
        output.append(1)
    }
}
