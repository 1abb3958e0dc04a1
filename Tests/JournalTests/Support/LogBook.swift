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

    let records = Recorder<JournalRecord>()
    /// What was told besides records and the clock.
    let besides = Recorder<Entry>()
    /// All of it.
    let entries = Recorder<Entry>()

    func add(_ event: PartitionEvent) {
        switch event {
        case .record(let record):
            records.append(record)
            entries.append(.record(record.sequence))
        case .logClock(let ahead): entries.append(.clock(ahead))
        case .barrier(let barrier): barrier.pass()
        case .caughtUp: add(besides: .caughtUp)
        case .missing(let from, let through): add(besides: .missing(from...through))
        case .rewound(let last): add(besides: .rewound(last))
        }
    }

    private func add(besides entry: Entry) {
        besides.append(entry)
        entries.append(entry)
    }

    /// The sequences of all records.
    var sequences: [UInt64] { records.values.map(\.sequence) }
}
