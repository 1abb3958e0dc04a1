package import StrokeWire

/// The frames of an ID3 tag, version 2.3 or 2.4, that can hold a time.
package struct ID3Tag: Sendable {
    package enum Frame: Sendable, Equatable {
        /// TXXX: a text with a description.
        case text(description: String, value: String)
        /// PRIV: bytes that belong to an owner.
        case owned(owner: String, data: [UInt8])
    }

    package private(set) var frames: [Frame] = []

    /// Apple's time of a segment on the MPEG-2 time line, in 90 kHz: no media time.
    package static let transportTimestamp = "com.apple.streaming.transportStreamTimestamp"

    /// Reads the tags at the beginning of `bytes`; what is damaged is passed over.
    package init(_ bytes: [UInt8]) {
        // Libavformat 5.1 takes the first five bytes of a tag in a private stream for the header of other metadata.
        if bytes.count > 15, Self.size(bytes[1..<5], isSynchsafe: true) == bytes.count - 5 {
            read(bytes, 5, bytes.count, version: 4, hasExtension: bytes[0] & 0x40 != 0)
        }
        var start = 0
        while bytes.count - start >= 10, bytes[start..<start + 3].elementsEqual("ID3".utf8) {
            let version = bytes[start + 3]
            let size = Self.size(bytes[(start + 6)..<(start + 10)], isSynchsafe: true)
            let end = min(bytes.count, start + 10 + size)
            if version == 3 || version == 4, bytes[start + 5] & 0x80 == 0 || version == 4 {
                read(bytes, start + 10, end, version: version, hasExtension: bytes[start + 5] & 0x40 != 0)
            }
            start = end
        }
    }

    private mutating func read(_ bytes: [UInt8], _ start: Int, _ end: Int, version: UInt8, hasExtension: Bool) {
        var index = start
        if hasExtension, end - index >= 4 {
            let size = Self.size(bytes[index..<index + 4], isSynchsafe: version == 4)
            index += version == 4 ? size : size + 4
        }
        while index >= start, end - index > 10, bytes[index] != 0 {
            let size = Self.size(bytes[(index + 4)..<(index + 8)], isSynchsafe: version == 4)
            let body = index + 10
            guard size <= end - body else { return }
            let content = bytes[body..<body + size]
            switch String(decoding: bytes[index..<index + 4], as: UTF8.self) {
            case "TXXX": if let frame = Self.text(content) { frames.append(frame) }
            case "PRIV":
                if let zero = content.firstIndex(of: 0) {
                    let owner = String(decoding: content[..<zero], as: UTF8.self)
                    frames.append(.owned(owner: owner, data: Array(content[(zero + 1)...])))
                }
            default: break
            }
            index = body + size
        }
    }

    private static func size(_ bytes: ArraySlice<UInt8>, isSynchsafe: Bool) -> Int {
        bytes.reduce(0) { isSynchsafe ? $0 << 7 | Int($1 & 0x7f) : $0 << 8 | Int($1) }
    }

    private static func text(_ content: ArraySlice<UInt8>) -> Frame? {
        guard let encoding = content.first else { return nil }
        let content = content.dropFirst()
        switch encoding {
        case 0, 3:
            guard let zero = content.firstIndex(of: 0) else { return nil }
            let decode = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self) }
            return .text(description: decode(content[..<zero]), value: decode(content[(zero + 1)...]))
        case 1, 2:
            var parts: [[UInt16]] = [[]]
            var isLittle = false
            var bytes = Array(content)[...]
            while bytes.count >= 2 {
                let pair = bytes.prefix(2)
                bytes = bytes.dropFirst(2)
                let (first, second) = (UInt16(pair[pair.startIndex]), UInt16(pair[pair.startIndex + 1]))
                let unit = isLittle ? second << 8 | first : first << 8 | second
                switch unit {
                case 0 where parts.count == 1: parts.append([])
                case 0: break
                case 0xfeff: break
                case 0xfffe: isLittle.toggle()
                default: parts[parts.count - 1].append(unit)
                }
            }
            guard parts.count == 2 else { return nil }
            return .text(
                description: String(decoding: parts[0], as: UTF16.self),
                value: String(decoding: parts[1], as: UTF16.self))
        default: return nil
        }
    }

    /// The first media time in a frame.
    ///
    /// - Parameters:
    ///   - name: owner or description of the frame; nil for any but ``transportTimestamp``.
    ///   - key: the member of a JSON object to read.
    package func time(named name: String?, key: String) -> MediaTime? {
        for frame in frames {
            let (owner, payload) =
                switch frame {
                case .text(let description, let value): (description, Array(value.utf8))
                case .owned(let owner, let data): (owner, data)
                }
            guard name.map({ $0 == owner }) ?? (owner != Self.transportTimestamp) else { continue }
            if let time = TimeForm.read(payload, key: key) { return time }
        }
        return nil
    }
}
