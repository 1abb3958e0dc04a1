import StrokeWire

@testable import Whiteboard

/// What can be given to a room.
enum RoomInput {
    case message(AuthorID, session: String?, [UInt8])
    case record(ControlRecord)
    case sample([UInt8], CohortName)
    case output(isOpen: Bool)
    /// No input of a room: a restart takes its clocks, and a room that is to be compared with it has to lose them, too.
    case clocksLost

    func feed(_ room: inout Room, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects) {
        switch self {
        case .message(let author, let session, let bytes):
            let message = IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: loggedAt)
            room.receive(message, incarnation: { "life" }, at: now, into: &effects)
        case .record(let record): room.receive(record, loggedAt: loggedAt, at: now, into: &effects)
        case .sample(let bytes, let cohort):
            room.receive(clockSample: bytes, cohort: cohort, at: now, into: &effects)
        case .output(let isOpen): room.setOutput(isOpen: isOpen)
        case .clocksLost:
            for position in room.gate.cohorts.indices {
                room.gate.cohorts[position].clock = nil
                room.gate.cohorts[position].waiting = nil
            }
            room.gate.asked = nil
        }
    }
}
