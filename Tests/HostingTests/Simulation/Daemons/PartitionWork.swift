import Hosting
import Whiteboard

/// A process's work on one partition.
final class PartitionWork {
    var reader: SimulatedReader?
    var isClosing = false
    var isCaughtUp = false
    /// The last record that the host was given.
    var delivered: UInt64 = 0
}

extension DaemonProcess {
    func open(_ partition: Int) {
        let work = PartitionWork()
        works[partition] = work
        readCatalogue(partition, work)
    }

    private func readCatalogue(_ partition: Int, _ work: PartitionWork) {
        world.after(2...150) { [self] in
            post { [self] in
                guard works[partition] === work, !work.isClosing else { return }
                guard isReached, !world.chance(80) else { return readCatalogue(partition, work) }
                let catalogue = site.shelves[partition].catalogue()
                world.after(0...40) { [self] in post { [self] in begin(partition, work, catalogue) } }
            }
        }
    }

    private func begin(_ partition: Int, _ work: PartitionWork, _ catalogue: SimulatedShelf.Catalogue) {
        guard works[partition] === work, !work.isClosing else { return }
        let log = site.logs[partition]
        keeper.open(partition, catalogue)
        var stored = catalogue.rooms.mapValues(\.stored)
        // Nothing of these can be read: they are made again from the whole log.
        for room in catalogue.damaged {
            stored[room] = StoredRoom(
                sequence: 0, handled: 0, cursors: [:], isQuiet: false, hasState: true, incarnation: "")
        }
        host.open(partition, prefix: log.prefix, stored: stored, at: now)
        let first = min(catalogue.covered, catalogue.wanted) + 1
        world.note("\(name) opens partition \(partition) with \(stored.count) rooms, and reads from \(first)")
        work.delivered = first - 1
        work.reader = SimulatedReader(log, from: first, world: world, clock: clock) { [weak self] event in
            self?.post { self?.take(event, of: partition, work) }
        }
        work.reader?.isConnected = isReached
    }

    private func take(_ event: SimulatedReader.Event, of partition: Int, _ work: PartitionWork) {
        guard works[partition] === work, !work.isClosing else { return }
        switch event {
        case .logClock(let ahead):
            keeper.logClockAhead[partition] = ahead
            host.setLogClock(of: partition, ahead: ahead)
        case .record(let record):
            work.delivered = record.sequence
            host.take(record, arrivedAt: now, at: now)
        case .barrier(let pass): host.barrier(pass)
        case .caughtUp:
            work.isCaughtUp = true
            host.caughtUp(partition, at: now)
        }
    }

    func close(_ partition: Int, discarding: Bool = false) {
        guard let work = works[partition], !work.isClosing else { return }
        world.note("\(name) closes partition \(partition)")
        work.isClosing = true
        work.reader?.cancel()
        host.close(partition, discarding: discarding, at: now)
        expectEnd(of: work, partition)
    }

    /// Reports a partition that is not closed although nothing has held the process up for long enough.
    private func expectEnd(of work: PartitionWork, _ partition: Int) {
        world.after(Self.longestClosing) { [weak self] in
            guard let self, isAlive, works[partition] === work else { return }
            guard !isStopped, isConnected, freeSince + Self.longestClosing <= world.now else {
                return expectEnd(of: work, partition)
            }
            report("partition \(partition) is still being closed")
        }
    }

    /// After that a partition must be closed.
    private static var longestClosing: Duration { .seconds(20) }

    /// Every second: how far the checkpoints of each partition have come.
    func reportCoverage() {
        world.after(1000...1100) { [self] in
            guard isAlive else { return }
            post { [self] in
                for (partition, work) in works where work.reader != nil && !work.isClosing {
                    guard membership.serving.contains(partition) else { continue }
                    let covered =
                        site.fault == .overstatesCoverage
                        ? work.delivered : host.covered(of: partition, through: work.delivered)
                    keeper.covered[partition] = max(keeper.covered[partition] ?? 0, covered)
                }
            }
            reportCoverage()
        }
    }
}
