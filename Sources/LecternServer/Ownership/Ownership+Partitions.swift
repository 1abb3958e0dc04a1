import Hosting
import Logging
import Whiteboard

/// This daemon's partitions come and go.
extension Ownership {
    func open(_ partition: Int) {
        works[partition] = partitions.open(partition) { [inlet] in inlet.yield(.rewound(partition)) }
    }

    func workerIsReady(with partition: Int) {
        guard let work = works[partition], work.countReady() == workers.all.count else { return }
        membership.opened(partition, at: MonotonicClock.now())
        logger.info("partition open", metadata: work.figures)
    }

    func close(_ partition: Int, discarding: Bool = false) {
        guard let work = works[partition], !work.isClosing else { return }
        work.close()
        workers.postToAll(.partition(.close(partition, discarding: discarding)))
    }

    func workerHasClosed(_ partition: Int, isWhole: Bool) {
        guard let work = works[partition], work.countClosed(isWhole: isWhole) == workers.all.count else { return }
        // It takes seconds where JetStream has no leader; what the other daemons say is heard meanwhile.
        Task {
            await partitions.finish(partition, covered: work.covered)
            works[partition] = nil
            membership.closed(partition, at: MonotonicClock.now())
            logger.info("partition closed", metadata: ["partition": "\(partition)"])
            step()
        }
    }

    var openPartitions: [Int] {
        works.filter { $1.isReady && !$1.isClosing }.keys.sorted()
    }

    /// Every second: how far the checkpoints of each partition have come.
    func reportPositions() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.positionInterval)
            for (partition, work) in works where work.isReady && !work.isClosing {
                partitions.askCoverage(of: partition, work)
            }
        }
    }
}
