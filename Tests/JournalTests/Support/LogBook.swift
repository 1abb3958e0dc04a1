import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import Whiteboard

/// What a reader of a log was told, in order; barriers are passed at once.
struct LogBook: Sendable {
    enum Entry: Sendable, Equatable {
        case record(UInt64)
        case caughtUp
        case clock(Duration)
        case missing(ClosedRange<UInt64>)
        case rewound(UInt64)
    }

    let entries = Recorder<Entry>()
    let records = Recorder<JournalRecord>()

    func add(_ event: PartitionEvent) {
        switch event {
        case .record(let record):
            records.append(record)
            entries.append(.record(record.sequence))
        case .caughtUp: entries.append(.caughtUp)
        case .logClock(let ahead): entries.append(.clock(ahead))
        case .barrier(let barrier): barrier.pass()
        case .missing(let from, let through): entries.append(.missing(from...through))
        case .rewound(let last): entries.append(.rewound(last))
        }
    }

    /// The sequences of all records, and what was told besides, without the clock.
    var sequences: [UInt64] { records.values.map(\.sequence) }
    var eventsBesides: [Entry] {
        entries.values.filter {
            switch $0 {
            case .record, .clock: false
            default: true
            }
        }
    }
}
