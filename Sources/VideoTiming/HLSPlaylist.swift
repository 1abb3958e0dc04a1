package import StrokeWire

/// A playlist of HTTP Live Streaming (RFC 8216), as far as a player's position depends on it.
package enum HLSPlaylist: Sendable, Equatable {
    /// Playlists of one and the same content in several qualities.
    case variants([Variant])
    case media(MediaPlaylist)

    /// A rendition of the stream that a master playlist lists.
    package struct Variant: Sendable, Equatable {
        package let uri: String
        /// Bits a second; 0 where it is not said.
        package let bandwidth: Int
    }

    /// More lines than this are not read.
    private static let maximumLines = 200_000

    /// Reads a playlist. Unknown tags are ignored.
    ///
    /// - Returns: nil where the text is no playlist, or one without segments and variants that is not ended either.
    package init?(_ text: String) {
        var lines = text.utf8.split(maxSplits: Self.maximumLines, whereSeparator: { $0 == 0x0a || $0 == 0x0d })[...]
        guard let first = lines.popFirst(), Substring(first).trimmed.hasPrefix("#EXTM3U") else { return nil }
        var variants: [Variant] = []
        var bandwidth: Int?
        var media = PlaylistReader()
        for line in lines {
            let line = Substring(line).trimmed
            if line.hasPrefix("#EXT-X-STREAM-INF:") {
                bandwidth = AttributeList(line.dropFirst(18))["BANDWIDTH"].flatMap { Int($0) } ?? 0
            } else if line.hasPrefix("#") {
                media.read(tag: line)
            } else if !line.isEmpty {
                if let bandwidth {
                    variants.append(Variant(uri: String(line), bandwidth: bandwidth))
                } else {
                    media.read(uri: line)
                }
                bandwidth = nil
            }
        }
        self = variants.isEmpty ? .media(media.playlist) : .variants(variants)
    }
}

/// The segments of a stream that are there.
package struct MediaPlaylist: Sendable, Equatable {
    /// A range of bytes of a file.
    package struct ByteRange: Sendable, Equatable {
        package let offset: Int64
        package let length: Int64
    }

    /// What has to be read before a segment of fragmented MP4.
    package struct Map: Sendable, Equatable {
        package let uri: String
        package let range: ByteRange?
        /// How it is encrypted, if it is: FFmpeg leaves it plain beside encrypted segments. With a vector that is given (RFC 8216,
        /// section 4.3.2.5).
        package let key: Key?
    }

    /// How a segment is encrypted, with AES-128.
    package struct Key: Sendable, Equatable {
        package let uri: String
        /// Sixteen bytes as hexadecimal digits; nil for the segment's number.
        package let vector: String?
    }

    /// One file, or part of a file, of the stream.
    package struct Segment: Sendable, Equatable {
        package let uri: String
        /// Microseconds.
        package let duration: Int64
        /// Media sequence number.
        package let number: Int64
        /// Discontinuity sequence number: segments with the same one share a time line.
        package let discontinuity: Int64
        /// The time of its first picture, given or counted from the segments before it.
        package let date: MediaTime?
        package let range: ByteRange?
        package let map: Map?
        package let key: Key?
        /// Whether the segment is known to be missing.
        package let isGap: Bool
    }

    /// Microseconds; the longest that a segment may be.
    package fileprivate(set) var targetDuration: Int64 = 0
    package fileprivate(set) var firstNumber: Int64 = 0
    package fileprivate(set) var segments: [Segment] = []
    package fileprivate(set) var isEnded = false
    /// How far from the end players begin, in microseconds, where the playlist says so.
    package fileprivate(set) var holdBack: Int64?
    /// Whether segments are encrypted in a way that cannot be read.
    package fileprivate(set) var isProtected = false

    package init() {}

    /// Number of the segment that would come next.
    package var nextNumber: Int64 { firstNumber + Int64(segments.count) }
}

/// Reads a media playlist, line by line.
private struct PlaylistReader {
    var playlist = MediaPlaylist()
    private var duration: Int64?
    private var discontinuity: Int64 = 0
    private var date: MediaTime?
    /// Whether the date is that of the next segment, not counted from the segments before it.
    private var isDateGiven = false
    private var range: MediaPlaylist.ByteRange?
    /// Behind the range of the segment before.
    private var rangeEnd: Int64 = 0
    private var map: MediaPlaylist.Map?
    private var key: MediaPlaylist.Key?
    private var isEncrypted = false
    private var isGap = false

    mutating func read(tag line: Substring) {
        let name = line.prefix { $0 != ":" }
        let value = line.dropFirst(name.count + 1)
        switch name {
        case "#EXTINF": duration = microseconds(value.prefix { $0 != "," })
        case "#EXT-X-TARGETDURATION": playlist.targetDuration = microseconds(value) ?? 0
        // Behind a segment it would contradict the numbers of those before it.
        case "#EXT-X-MEDIA-SEQUENCE" where playlist.segments.isEmpty: playlist.firstNumber = number(value)
        case "#EXT-X-DISCONTINUITY-SEQUENCE": discontinuity = number(value)
        case "#EXT-X-DISCONTINUITY":
            discontinuity += 1
            // The tags of a segment come in any order.
            if !isDateGiven { date = nil }
        case "#EXT-X-PROGRAM-DATE-TIME":
            date = CalendarTime.read(value.trimmed)
            isDateGiven = true
        case "#EXT-X-BYTERANGE":
            range = byteRange(value, after: rangeEnd)
            if let range { rangeEnd = range.offset + range.length }
        case "#EXT-X-MAP":
            let attributes = AttributeList(value)
            map = attributes["URI"].map { uri in
                MediaPlaylist.Map(
                    uri: uri, range: attributes["BYTERANGE"].flatMap { byteRange(Substring($0), after: 0) },
                    key: key?.vector == nil ? nil : key)
            }
        case "#EXT-X-KEY":
            let attributes = AttributeList(value)
            // Keys of several formats stand beside each other: a player takes the one that it can read.
            let isOwnFormat = attributes["KEYFORMAT"] ?? "identity" == "identity"
            let method = attributes["METHOD"]
            if isOwnFormat || method == "NONE" { key = nil }
            if isOwnFormat, method == "AES-128", let uri = attributes["URI"] {
                key = MediaPlaylist.Key(uri: uri, vector: attributes["IV"].flatMap(vector))
            }
            isEncrypted = method != "NONE"
        case "#EXT-X-GAP": isGap = true
        case "#EXT-X-ENDLIST": playlist.isEnded = true
        case "#EXT-X-SERVER-CONTROL":
            playlist.holdBack = AttributeList(value)["HOLD-BACK"].flatMap { microseconds(Substring($0)) }
        default: break
        }
    }

    mutating func read(uri: Substring) {
        guard let duration else { return }
        if isEncrypted, key == nil { playlist.isProtected = true }
        // Some packagers round it down, to 0 even.
        playlist.targetDuration = max(playlist.targetDuration, duration)
        playlist.segments.append(
            MediaPlaylist.Segment(
                uri: String(uri), duration: duration, number: playlist.nextNumber, discontinuity: discontinuity,
                date: date, range: range, map: map, key: key, isGap: isGap))
        date = date.map { $0 + duration }
        isDateGiven = false
        self.duration = nil
        range = nil
        isGap = false
    }

    /// At most a day.
    private func microseconds(_ text: Substring) -> Int64? {
        guard let seconds = Double(text.trimmed), (0...86_400).contains(seconds) else { return nil }
        return Int64((seconds * 1_000_000).rounded())
    }

    private func number(_ text: Substring) -> Int64 {
        Int64(text.trimmed).map { max(0, min($0, 1 << 53)) } ?? 0
    }

    private func byteRange(_ text: Substring, after end: Int64) -> MediaPlaylist.ByteRange? {
        let parts = text.split(separator: "@")
        guard let length = parts.first.flatMap({ Int64($0) }), (0...1 << 40).contains(length) else { return nil }
        let offset = parts.count > 1 ? Int64(parts[1]) ?? 0 : end
        guard (0...1 << 53).contains(offset) else { return nil }
        return MediaPlaylist.ByteRange(offset: offset, length: length)
    }

    private func vector(_ text: String) -> String? {
        let text = text.lowercased()
        let digits = text.dropFirst(2)
        guard text.hasPrefix("0x"), digits.count <= 32, digits.allSatisfy({ $0.isHexDigit }) else { return nil }
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}

/// `NAME=value,NAME="value, with commas"`.
private struct AttributeList {
    private var values: [Substring: String] = [:]

    init(_ text: Substring) {
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].trimmed
            rest = rest[rest.index(after: equals)...]
            if rest.first == "\"" {
                rest = rest.dropFirst()
                let end = rest.firstIndex(of: "\"") ?? rest.endIndex
                values[name] = String(rest[..<end])
                rest = rest[end...]
                rest = rest[(rest.firstIndex(of: ",") ?? rest.endIndex)...].dropFirst()
            } else {
                let end = rest.firstIndex(of: ",") ?? rest.endIndex
                values[name] = String(rest[..<end].trimmed)
                rest = rest[end...].dropFirst()
            }
        }
    }

    subscript(_ name: Substring) -> String? { values[name] }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
