public import Whiteboard

extension JetStreamJournal {
    /// Reads a partition's log from a sequence on, and what is written to it, until cancelled; through losses of the
    /// connection and of servers. Also when nobody holds the reader.
    ///
    /// - Parameters:
    ///   - sequence: the first one wanted.
    ///   - now: the time of the rooms' clock.
    ///   - deliver: called for each event, in order, on the delivery thread; must not block. What is delivered before
    ///     a barrier is passed is bounded by the server: 2 MiB at first, at most 32 MiB.
    public func read(
        _ partition: Int, from sequence: UInt64, now: @escaping @Sendable () -> Instant,
        deliver: @escaping @Sendable (PartitionEvent) -> Void
    ) -> PartitionReader {
        let reader = PartitionReader(of: partition, in: self, from: sequence, now: now, deliver: deliver)
        reader.start(from: sequence)
        return reader
    }
}
