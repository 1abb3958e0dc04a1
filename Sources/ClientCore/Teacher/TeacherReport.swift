public import StrokeWire

/// Statistics of a teacher's session.
public struct TeacherReport: Sendable, Equatable {
    /// Messages sent for the first time.
    public internal(set) var published = 0
    /// Messages whose first sending was skipped by ``PublishPlan/Faults``.
    public internal(set) var withheld = 0
    /// Messages sent again.
    public internal(set) var resent = 0
    /// Operations that got an index.
    public internal(set) var applied = 0
    /// Highest index in the service's feedback.
    public internal(set) var lastIndex: UInt64 = 0
    /// Rejections, by code.
    public internal(set) var rejected: [RejectionCode: Int] = [:]
    /// The first 16 rejections, with the operation's number where the service could decode it.
    public internal(set) var firstRejections: [NumberedRejection] = []
    /// Number of times that the service reported missing messages.
    public internal(set) var missing = 0
    /// Operations that the service has given up.
    public internal(set) var gaveUp = 0
    /// Whether a journal acknowledges messages.
    public internal(set) var isJournalled = false
    /// Messages stored in the journal.
    public internal(set) var stored = 0
    /// Operations neither stored in the journal nor answered.
    public internal(set) var unstored = 0
    /// Number of times that the journal refused a message.
    public internal(set) var refusals = 0
    /// Why the journal refuses messages now; nil while it accepts them.
    public internal(set) var refusal: String?
    /// Whether no message gets through now although there is a connection.
    public internal(set) var isStalled = false
    /// Whether there is a connection now.
    public internal(set) var isConnected = true
    /// Operations without an answer of the service.
    public internal(set) var unanswered = 0
    /// Messages that were not sent yet.
    public package(set) var unsent = 0
    /// Number of reconnects.
    public internal(set) var reconnects = 0
    /// Id of the session after a newer session of the author has ended it, which ends publishing; nil otherwise.
    public internal(set) var endedSession: String?
    /// By how many milliseconds the time of an operation lay below the time at the teacher, at most, as the service has told:
    /// students see such ink before the voice that goes with it. 0 for none.
    public internal(set) var behindLive: Int64 = 0
    /// Updates of strokes while they were being drawn.
    public package(set) var wetUpdates = 0
    /// Feedback that could not be decoded.
    public internal(set) var malformedFeedback = 0

    /// A rejection with its operation.
    public struct NumberedRejection: Sendable, Equatable {
        /// Number of the operation; nil where the service could not decode it.
        public let number: Int64?
        /// The service's reason.
        public let rejection: Rejection
    }

    /// Number of rejections.
    public var rejections: Int { rejected.values.reduce(0, +) }

    /// Feedback dropped because it came faster than it was processed. The service repeats what matters.
    public internal(set) var droppedFeedback = 0

    /// Whether messages were sent, and neither the service nor a journal has answered any.
    public var hasNoResponse: Bool {
        published + resent > 0 && stored == 0 && lastIndex == 0 && missing == 0 && gaveUp == 0 && rejections == 0
            && malformedFeedback == 0 && droppedFeedback == 0 && endedSession == nil
    }

    /// Whether all operations are applied.
    public var isComplete: Bool {
        rejections == 0 && gaveUp == 0 && unanswered == 0 && unsent == 0 && endedSession == nil
    }

    /// Whether all operations are answered or stored in the journal, where the service will find them.
    public var hasArrived: Bool { unsent == 0 && unstored == 0 }
}

extension TeacherReport {
    private static let listedRejections = 16

    /// Counts a rejection, and lists it if it is one of the first.
    mutating func count(_ rejection: Rejection, of number: Int64?) {
        rejected[rejection.code, default: 0] += 1
        guard firstRejections.count < Self.listedRejections else { return }
        firstRejections.append(NumberedRejection(number: number, rejection: rejection))
    }

    /// Counts the answers and acknowledgements of earlier runs.
    mutating func resume(_ history: OutboxHistory) {
        stored = history.storedCount
        isJournalled = history.storedCount > 0
        for outcome in history.outcomes.values {
            switch outcome {
            case .applied(let index):
                applied += 1
                lastIndex = max(lastIndex, index)
            case .gaveUp:
                gaveUp += 1
            case .rejected(let code):
                rejected[code, default: 0] += 1
            }
        }
    }
}
