import NATSClient

/// The streams of a root, and the step of a ``Repartitioning`` that they are at.
struct RepartitionLayout {
    struct Log {
        let streams: PartitionStreams
        let subjects: [String]

        var isParked: Bool { subjects.contains(streams.parked) }
        var isOpen: Bool { streams.records.allSatisfy(subjects.contains) }
        /// Whether it has records that were moved to it.
        var hasMoved: Bool { subjects.contains(streams.moved) }

        /// Has it capture nothing but moved records, of which none come.
        func park(_ jetStream: JetStream) async throws(JetStreamError) {
            try await jetStream.capture([streams.parked] + (hasMoved ? [streams.moved] : []), by: streams.log)
        }

        /// Has it capture what teachers publish.
        func open(hasMoved: Bool, _ jetStream: JetStream) async throws(JetStreamError) {
            try await jetStream.capture(streams.records + (hasMoved ? [streams.moved] : []), by: streams.log)
        }
    }

    enum Step: Equatable {
        case none
        /// All streams are there, and perhaps some copies.
        case copy
        /// All copies are whole, and new streams may be there, none of which captures anything yet.
        case fill
        /// All new streams are full.
        case finish
        case refused(Repartitioning.Failure)
    }

    let root: String
    /// In the order of partitions.
    private(set) var logs: [Log] = []
    /// The streams of the root, without copies.
    private(set) var names: [String] = []
    private(set) var copies: [String] = []
    /// Streams that an interrupted run has left and nobody needs: ``reservation`` and ``relay(for:)``.
    private(set) var leftovers: [String] = []
    private var isAnyOriginalMissing = false
    /// A partition that has checkpoints and no log.
    private var orphan: Int?

    /// Whether a run has left something, or has logs capture nothing.
    var isBegun: Bool { !copies.isEmpty || !leftovers.isEmpty || logs.contains(where: \.isParked) }

    init(_ root: String, _ jetStream: JetStream) async throws(JetStreamError) {
        self.root = root
        let stem = PartitionStreams.stem(root)
        let all = try await jetStream.streamNames(beginningWith: "\(stem)_")
        for name in all {
            let rest = name.dropFirst(stem.count)
            if rest.hasPrefix(Self.relays) || name == reservation { leftovers.append(name) }
            if let match = rest.wholeMatch(of: /_MOVING(_(LOG|CHECKPOINT)_[0-9]+)/) {
                copies.append(name)
                if !all.contains("\(stem)\(match.1)") { isAnyOriginalMissing = true }
            }
            guard let match = rest.wholeMatch(of: /_(LOG|CHECKPOINT)_([0-9]+)/), let partition = Int(match.2) else {
                continue
            }
            names.append(name)
            let streams = PartitionStreams(root: root, partition: partition)
            guard match.1 == "LOG" else {
                if !all.contains(streams.log) { orphan = partition }
                continue
            }
            let subjects = try await jetStream.streamInfo(name).configuration.subjects
            logs.append(Log(streams: streams, subjects: subjects))
        }
        logs.sort { $0.streams.partition < $1.streams.partition }
    }

    /// A stream that only tries whether there is space, see ``RepartitionPlan/checkSpace(replacing:_:)``.
    var reservation: String { "\(PartitionStreams.stem(root))_MOVING_SPACE" }

    private static let relays = "_MOVING_RELAY_"

    func relay(for copy: String) -> String {
        let stem = PartitionStreams.stem(root)
        return stem + Self.relays + copy.dropFirst(stem.count + "_MOVING_".utf8.count)
    }

    /// The streams of the copied partitions, in their order.
    var copied: [PartitionStreams] {
        let prefix = "\(PartitionStreams.stem(root))_MOVING_LOG_"
        let count = copies.count { $0.hasPrefix(prefix) }
        return (0..<count).map { PartitionStreams(root: root, partition: $0, areCopies: true) }
    }

    var step: Step {
        if copies.isEmpty {
            if let gap = logs.enumerated().first(where: { $0 != $1.streams.partition }) {
                return .refused(.incomplete(missing: PartitionStreams(root: root, partition: gap.offset).log))
            }
            if let orphan {
                let streams = PartitionStreams(root: root, partition: orphan)
                return .refused(.orphan(checkpoints: streams.checkpoint, log: streams.log))
            }
            return logs.isEmpty ? .none : .copy
        }
        // All were parked before the first copy was made: one that captures is a new one.
        if let foreign = logs.first(where: { $0.isOpen && !$0.hasMoved }) {
            return .refused(.foreign(stream: foreign.streams.log))
        }
        // All are full when the first is opened.
        if logs.contains(where: \.isOpen) { return .finish }
        // Copies may be the only ones of their messages from the first deletion on. New logs are not parked.
        return !isAnyOriginalMissing && logs.allSatisfy(\.isParked) ? .copy : .fill
    }
}
