/// The form in which operations are sent.
public enum WireEncoding: String, Sendable, CaseIterable {
    /// As the teacher's client sent it.
    case json
    /// The compact form of ``BinaryMessage``.
    case binary
}

/// The compact form of a message: a tenth of the JSON text, which it gives back byte for byte.
///
/// The first byte tells it from JSON. A message whose numbers or points do not fit the form is inside as its JSON text. The
/// article on the binary form has the grammar.
public enum BinaryMessage {
    /// The first byte: no text in UTF-8 begins with a byte whose upper half is B. The lower half is the version.
    public static let firstByte: UInt8 = 0xb1

    /// Bytes of the JSON text at most.
    public static let maximumBytes = MessageUnpacker.maximumBytes

    /// Whether bytes are of the binary form, of any version; else they may be JSON.
    public static func isBinary(_ bytes: [UInt8]) -> Bool {
        bytes.first.map { $0 & 0xf0 == 0xb0 } ?? false
    }

    /// The binary form of a message.
    /// - Parameters:
    ///   - json: the message.
    ///   - points: the ``StrokeMessage/points`` of that message.
    public static func encode(_ json: [UInt8], points: PointArray) -> [UInt8] {
        BinaryPayload(packing: json, points: points).message
    }

    /// The binary form of a message that has not been decoded; of any other text, too, but then hardly smaller.
    public static func encode(_ json: [UInt8]) -> [UInt8] { BinaryPayload(packing: json).message }

    /// The JSON text of a message in the binary form.
    ///
    /// It is not checked: decode it as any other message.
    /// - Parameter limit: bytes of the text at most.
    public static func json(
        of bytes: [UInt8], limit: Int = maximumBytes
    ) throws(BinaryFormError) -> [UInt8] {
        var reader = try BinaryReader(bytes)
        let layout = try reader.layout()
        return try reader.json(reader.rest, layout.template, limit: limit)
    }

    /// The points of a message and its other fields, decoded without the JSON text between.
    /// - Parameters:
    ///   - limits: as for a message in JSON; of `bytes` as they are, not of the JSON text.
    ///   - points: the points of a draw; empty for other actions and after an error. The capacity is kept.
    /// - Returns: the fields. ``StrokeMessage/points`` has the number of points, and no place.
    public static func decode(
        _ bytes: [UInt8], limits: WireLimits = WireLimits(), points: inout [StrokePoint]
    ) throws(BinaryFormError) -> StrokeMessage {
        points.removeAll(keepingCapacity: true)
        guard bytes.count <= limits.messageBytes else { throw .tooLarge(limit: limits.messageBytes) }
        var reader = try BinaryReader(bytes)
        let layout = try reader.layout()
        if case .keys(let keys) = layout {
            var decoder = BinaryDecoder(keys, bytes, in: reader.rest)
            if let message = decoder.decode(limits, into: &points) { return message }
            points.removeAll(keepingCapacity: true)
        }
        // Whatever is not within its limits, or spelt in another way, is judged as JSON.
        let json = try reader.json(reader.rest, layout.template, limit: maximumBytes)
        var limits = limits
        limits.messageBytes = .max
        do {
            var message = try StrokeMessage(decoding: json, limits: limits, points: &points)
            message.points = PointArray(count: message.points.count, interior: 0..<0)
            return message
        } catch {
            throw .rejected(error.rejection)
        }
    }
}

/// A message in the binary form: its layout, which messages of one client share, and the rest.
package struct BinaryPayload: Sendable, Equatable {
    package let layout: MessageLayout
    package let bytes: [UInt8]

    package init(_ layout: MessageLayout, _ bytes: [UInt8]) {
        (self.layout, self.bytes) = (layout, bytes)
    }

    /// Bytes of a template at most.
    private static let largestTemplate = 2048

    /// Packs a message; one that cannot be packed, or would not become smaller, stays JSON.
    package init(packing json: [UInt8], points: PointArray) {
        guard json.count <= BinaryMessage.maximumBytes,
            let template = MessageTemplate(
                of: json, interior: points.interior, pointCount: points.count, atMost: Self.largestTemplate),
            let numbers = MessagePacker.pack(
                json, interior: points.interior, pointCount: points.count, by: template)
        else {
            self.init(.json, json)
            return
        }
        let layout = MessageLayout(template)
        if case .template = layout, template.textByteCount + numbers.count >= json.count {
            self.init(.json, json)
        } else {
            self.init(layout, numbers)
        }
    }

    /// Packs a message that has not been decoded.
    package init(packing json: [UInt8]) {
        self.init(packing: json, points: (try? StrokeMessage(decoding: json, limits: .any).points) ?? .empty)
    }

    /// The whole message.
    package var message: [UInt8] {
        var message: [UInt8] = []
        append(to: &message)
        return message
    }

    /// Appends the whole message.
    package func append(to message: inout [UInt8]) {
        message.reserveCapacity(message.count + bytes.count + 4)
        message.append(BinaryMessage.firstByte)
        layout.append(to: &message)
        message += bytes
    }
}

extension BinaryReader {
    /// The JSON text of a payload.
    /// - Parameters:
    ///   - payload: its place.
    ///   - template: that of its layout, nil for JSON.
    func json(
        _ payload: Range<Int>, _ template: MessageTemplate?, limit: Int
    ) throws(BinaryFormError) -> [UInt8] {
        guard let template else {
            guard payload.count <= limit else { throw .tooLarge(limit: limit) }
            return Array(bytes[payload])
        }
        var unpacker = MessageUnpacker(template: template, numbers: bytes, in: payload)
        do {
            return try unpacker.unpackUnchecked(atMost: limit)
        } catch {
            switch error {
            case .damaged: throw .damaged(at: payload.upperBound)
            case .tooLarge: throw .tooLarge(limit: limit)
            }
        }
    }
}
