public import StrokeWire

/// Why a lesson could not be read.
public struct LessonError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line at fault, from 1.
    public let line: Int
    /// What is wrong with the message on it.
    public let rejection: Rejection

    /// One line for a person.
    public var description: String {
        let field = rejection.field.map { " at \($0)" } ?? ""
        return "line \(line): \(rejection.code.rawValue)\(field): \(rejection.message)"
    }
}

extension Lesson {
    /// Reads a lesson: one compact message a line, empty lines skipped.
    ///
    /// - Parameters:
    ///   - ndjson: UTF-8, lines ended by LF or CR LF.
    ///   - limits: what a message may be; the default is that of a room with the default configuration.
    /// - Throws: the first line that is no valid message, and why.
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

    /// The lesson as it is read by ``init(ndjson:limits:)``: one message a line, each ended by LF.
    ///
    /// Line breaks between the tokens of a message become blanks; they can stand nowhere else in JSON.
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
