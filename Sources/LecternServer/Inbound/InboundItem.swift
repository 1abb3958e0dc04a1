import Journal
import StrokeWire
import Whiteboard

/// What comes to a worker from outside.
enum InboundItem: Sendable {
    case record(JournalRecord)
    case clock(RoomID, CohortName, [UInt8])
    case join(RoomID, CohortName, [UInt8], reply: String)
    case image(RoomID, CohortName, [UInt8], reply: String)
    case info(RoomID, reply: String)
    /// Asks for a line on every room of the worker.
    case list(reply: String)
    /// Whether anything can be published.
    case output(isOpen: Bool)
    case stop

    /// Bytes it occupies while it waits; 0 for what must not be lost.
    var cost: Int {
        switch self {
        case .record(let record):
            if case .message(_, _, let bytes) = record.content { bytes.count + 256 } else { 0 }
        case .clock(_, _, let bytes), .join(_, _, let bytes, _), .image(_, _, let bytes, _): bytes.count + 256
        case .info: 256
        case .list, .output, .stop: 0
        }
    }
}
