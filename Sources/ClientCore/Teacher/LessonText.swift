public import StrokeWire

extension Lesson {
    /// Decodes a lesson from NDJSON: one message per line, empty lines skipped.
    ///
    /// - Parameters:
    ///   - ndjson: UTF-8; lines end with LF or CR LF.
    ///   - limits: limits of a message; by default those of a room with the default configuration.
    /// - Throws: the first line without a valid message, and the reason.
    public init(ndjson: [UInt8], limits: WireLimits = WireLimits()) throws(LessonError) {
        var messages: [(bytes: [UInt8], header: StrokeMessage)] = []
        var line = 0
        for content in ndjson.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            line += 1
            guard content.contains(where: { !Self.isBlank($0) }) else { continue }
            let bytes = Array(content.last == UInt8(ascii: "\r") ? content.dropLast() : content)
            do throws(MalformedMessage) {
                messages.append((bytes, try StrokeMessage(decoding: bytes, limits: limits)))
            } catch {
                throw LessonError(line: line, rejection: error.rejection)
            }
        }
        self.init(messages)
    }

    /// The lesson encoded for ``init(ndjson:limits:)``: one message per line, each ended by LF.
    ///
    /// A line break between two tokens of a message becomes a blank; JSON has no other unescaped line breaks.
    public var ndjson: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(messages.reduce(0) { $0 + $1.bytes.count + 1 })
        for message in messages {
            for byte in message.bytes {
                let isBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
                bytes.append(isBreak ? UInt8(ascii: " ") : byte)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

/// A line of a lesson that is no valid message.
public struct LessonError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Number of the line, from 1.
    public let line: Int
    /// Why its message is rejected.
    public let rejection: Rejection

    /// One line of text.
    public var description: String {
        let field = rejection.field.map { " at \($0)" } ?? ""
        return "line \(line): \(rejection.code.rawValue)\(field): \(rejection.message)"
    }
}
