import StrokeWire
import Whiteboard

@testable import Hosting

/// A partition that a process has opened, until it is closed: its checkpoints are read, then its log.
final class PartitionWork {
    private unowned let process: DaemonProcess
    private let partition: Int
    private(set) var reader: SimulatedReader?
    private(set) var isClosing = false
    /// When the log had been read to what was its end.
    private(set) var caughtUpAt: Moment?
    var isCaughtUp: Bool { caughtUpAt != nil }
    /// The last record that the host was given.
    private(set) var delivered: UInt64 = 0
    /// Numbers the times that the partition was opened.
    private(set) var opening = 0
    /// Up to where the checkpoints were when it was opened.
    private var covered: UInt64 = 0

    /// How long closing a partition may take.
    private static let longestClosing = Duration.seconds(20)

    init(_ partition: Int, of process: DaemonProcess) {
        (self.partition, self.process) = (partition, process)
    }

    private var world: World { process.world }
    private var isOpen: Bool { process.works[partition] === self && !isClosing }

    /// Runs a body on the process's thread later, where the partition is still open then.
    private func later(_ milliseconds: ClosedRange<Int>, _ body: @escaping () -> Void) {
        process.later(milliseconds) { [self] in if isOpen { body() } }
    }

    func readCatalogue() {
        later(2...150) { [self] in
            guard process.isReached, !world.chance(80) else { return readCatalogue() }
            let catalogue = process.cluster.checkpoints[partition].catalogue()
            opening = process.cluster.ledger.open(partition, catalogue)
            later(0...40) { [self] in begin(catalogue) }
        }
    }

    private func begin(_ catalogue: SimulatedCheckpoints.Catalogue) {
        let log = process.cluster.logs[partition]
        process.keeper.open(partition, catalogue)
        var stored = catalogue.rooms.mapValues { StoredRoom($0) }
        for room in catalogue.damaged { stored[room] = .damaged }
        for room in catalogue.outdated { stored[room]?.setOutdated() }
        process.host.open(partition, prefix: log.prefix, stored: stored, at: process.now)
        let first = catalogue.covered + 1
        world.note(
            "\(process.name) opens partition \(partition) with \(stored.count) rooms, and reads from \(first)")
        (delivered, covered) = (first - 1, first - 1)
        reader = SimulatedReader(log, from: first, world: world, clock: process.clock) {
            [weak self, weak process] event in
            process?.post { self?.take(event) }
        }
        reader?.isConnected = process.isReached
    }

    private func take(_ event: SimulatedReader.Event) {
        guard isOpen else { return }
        let host = process.host
        switch event {
        case .logClock(let ahead):
            process.keeper.logClockAhead[partition] = ahead
            host.setLogClock(of: partition, ahead: ahead)
        case .record(let record):
            delivered = record.sequence
            host.take(record, arrivedAt: process.now, at: process.now)
        case .missing where process.cluster.fault == .passesOverDeletions: break
        case .missing: process.reopen(partition, covered: covered)
        case .barrier(let pass): host.barrier(pass)
        case .level where process.cluster.fault == .decidesBehind: break
        case .level(let until): host.setLevel(of: partition, until: until, at: process.now)
        case .caughtUp:
            caughtUpAt = world.now
            host.caughtUp(partition, at: process.now)
        }
    }

    func close(saving: ClosingSave) {
        guard !isClosing else { return }
        world.note("\(process.name) closes partition \(partition)")
        isClosing = true
        reader?.cancel()
        process.host.close(partition, saving: saving, at: process.now)
        expectEnd()
    }

    /// Reports a partition that is not closed although the process has been running with a connection for long enough.
    private func expectEnd() {
        world.after(Self.longestClosing) { [self, weak process] in
            guard let process, process.isAlive, process.works[partition] === self else { return }
            guard !process.isStopped, process.isConnected, process.freeSince + Self.longestClosing <= world.now else {
                return expectEnd()
            }
            process.report("partition \(partition) is still being closed")
        }
    }
}
