internal import StrokeWire

/// The strokes of one request and what the service says of each. Pure.
struct StrokeOutcomes {
    /// What has become of one message.
    enum Outcome: Equatable {
        case applied(index: UInt64)
        case rejected(Rejection)
        /// Nothing was heard of it in time: it waits behind a gap, or the service is away.
        case held
    }

    private struct Line {
        let number: Int64?
        let order: Int?
        var outcome: Outcome?
    }

    private let session: String?
    private let messageBytes: Int
    private var lines: [Line] = []
    private var open = 0

    /// - Parameters:
    ///   - session: the value of `Ink-Session`; nil without one: the room takes the strokes into the author's current
    ///     session, whose name is not known here.
    ///   - messageBytes: bytes of a message at most.
    init(session: String?, messageBytes: Int = .max) {
        (self.session, self.messageBytes) = (session, messageBytes)
    }

    /// Adds a message.
    /// - Returns: whether it is to be published. A message that is too large, or whose number cannot be read, would be
    ///   rejected without an effect, and its feedback would not say which message it is about.
    mutating func add(_ bytes: [UInt8]) -> Bool {
        var line: Line
        do throws(MalformedMessage) {
            let message = try StrokeMessage(decoding: bytes, limits: .any)
            line = Line(number: message.number, order: message.isSharded ? message.shardOrder : nil)
        } catch {
            line = Line(number: error.number, order: error.order)
            if error.number == nil { line.outcome = .rejected(error.rejection) }
        }
        if bytes.count > messageBytes {
            line.outcome = .rejected(.tooLarge(bytes: bytes.count, limit: messageBytes))
        }
        lines.append(line)
        guard line.outcome == nil else { return false }
        open += 1
        return true
    }

    /// Whether nothing is left to wait for.
    var isComplete: Bool { open == 0 }

    /// Takes feedback for the author. Feedback on another session is ignored.
    mutating func receive(_ message: FeedbackMessage) {
        guard session == nil || message.session == nil || message.session == session else { return }
        switch message.feedback {
        case .applied(let number, let index):
            settle(.applied(index: index)) { $0.number == number }
        // No stroke without a session is of an earlier one: this is about another client's.
        case .rejected(_, _, let rejection) where session == nil && rejection.code == .sessionOver:
            break
        case .rejected(let number?, let order, let rejection):
            // A conflict leaves the stroke as it was; any other rejection settles the number.
            let isOfShard = rejection.code == .shardConflict && order != nil
            settle(.rejected(rejection)) { $0.number == number && (!isOfShard || $0.order == order) }
        case .rejected, .missingShards, .missingRange, .gaveUp, .covered, .behindLive:
            break
        }
    }

    private mutating func settle(_ outcome: Outcome, where isMeant: (Line) -> Bool) {
        for place in lines.indices where lines[place].outcome == nil && isMeant(lines[place]) {
            lines[place].outcome = outcome
            open -= 1
        }
    }

    /// The body of the answer, one result a message in their order.
    func encoded() -> [UInt8] {
        var bytes = Array("{\"results\":[".utf8)
        for (place, line) in lines.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "{"))
            if let number = line.number { bytes += "\"n\":\(number),".utf8 }
            switch line.outcome ?? .held {
            case .applied(let index): bytes += "\"index\":\(index)}".utf8
            case .held: bytes += "\"status\":\"held\"}".utf8
            case .rejected(let rejection):
                bytes += "\"error\":".utf8
                bytes.append(rejection: rejection)
                bytes.append(UInt8(ascii: "}"))
            }
        }
        bytes += "]}".utf8
        return bytes
    }
}
