import Hosting
import StrokeWire
import Whiteboard

/// Carries out what the host of a process asks for.
final class ProcessOutput: HostOutput {
    enum Progress {
        case ready(Int)
        case closed(Int, isWhole: Bool)
    }

    private unowned let process: DaemonProcess
    private var progress: [Progress] = []
    private var hasOpened = false
    private var stored: [Int: Int] = [:]
    /// After this a room asks again for a decision that has not come back from the log.
    private static let decisionRetry = Duration.seconds(1)

    init(_ process: DaemonProcess) {
        self.process = process
    }

    func takeProgress() -> Progress? { progress.isEmpty ? nil : progress.removeFirst() }

    /// Whether rooms have come into memory since the last call.
    func takeOpened() -> Bool {
        defer { hasOpened = false }
        return hasOpened
    }

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        let cluster = process.cluster
        guard process.canPublish else {
            for cohort in cluster.plan.cohorts { cluster.ledger.keep(room, cohort, by: process) }
            cluster.wet.interrupt(room)
            return false
        }
        let life = room.incarnation
        switch effect {
        case .release(_, let operation, _, _) where cluster.fault == .losesReleases && operation.index % 8 == 0: break
        case .feedback(_, _, .rejected) where cluster.fault == .losesAnswers: break
        case .feedback(let author, let session, let feedback):
            let message = FeedbackMessage(session: session, feedback: feedback)
            if cluster.fault == .givesUpEarly, case .missingRange(let from, let to) = feedback {
                let record = ControlRecord.gaveUp(author: author, from: from, to: to, incarnation: life)
                cluster.logs[room.partition].take(.control(record), of: room.id, id: nil)
            }
            process.buffer.send { [id = room.id] in
                cluster.ledger.tell(message, to: author, of: id)
                cluster.network.tell(message, to: author, of: id)
            }
        case .head(let operation):
            cluster.wet.release(operation, of: room, to: nil, by: process)
            process.buffer.send { cluster.ledger.head(operation, of: room, life) }
        case .release(let cohort, let operation, let isLate, _):
            cluster.ledger.say(operation, of: room, to: cohort, by: process)
            cluster.wet.release(operation, of: room, to: cohort, by: process)
            process.buffer.send { [process] in
                let late = isLate ? " late" : ""
                process.world.note("\(process.name) releases \(room.id) \(operation.index) to \(cohort)\(late)")
                cluster.ledger.release(operation, of: room, life, to: cohort, isLate: isLate, by: process)
                cluster.network.release(operation, of: life, to: room.id, cohort)
            }
        case .mark(nil, _): break
        case .mark(let cohort?, let mark):
            process.buffer.send { [id = room.id] in cluster.network.mark(mark, to: id, cohort) }
        case .wet(_, let wet) where cluster.fault == .forgetsStrokes && wet.isEnd: break
        case .wet(let cohort, let wet):
            for _ in 0..<(cluster.fault == .repeatsPoints ? 2 : 1) {
                cluster.wet.publish(wet, of: room, to: cohort, by: process)
            }
        case .record:
            process.report("a decision was to be published")
        }
        return true
    }

    func confirm() {
        // A host forgets what is confirmed.
        if process.cluster.fault == .forgetsUnconfirmed {
            return process.world.after(.zero) { [process] in
                process.post { process.host.confirmed(true, at: process.now) }
            }
        }
        let (ledger, wet) = (process.cluster.ledger, process.cluster.wet)
        let (said, ended) = (ledger.said(by: process), wet.ended(by: process))
        process.confirm { [process] isConfirmed in
            if isConfirmed {
                ledger.confirm(said)
                wet.confirm(ended, by: process)
            }
            process.host.confirmed(isConfirmed, at: process.now)
        }
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        let log = process.cluster.logs[room.partition]
        let sentAt = process.world.now
        guard process.isReached, !process.world.chance(50) else {
            log.holdUp(from: sentAt, to: sentAt + Self.decisionRetry)
            return nil
        }
        let room = room.id
        let delay = process.cluster.fault == .decidesLate ? 5500...6000 : 0...15
        process.world.after(delay) { log.take(.control(record), of: room, id: nil, sentAt: sentAt) }
        return nil
    }

    func countNew(_ partition: Int) -> Bool {
        guard stored[partition, default: 0] < process.cluster.plan.storedRooms else { return false }
        countStored(1, of: partition)
        return true
    }

    func countStored(_ change: Int, of partition: Int) {
        stored[partition, default: 0] += change
        if stored[partition, default: 0] < 0 { process.report("counts fewer rooms than none") }
    }

    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {
        process.keeper.fetch(room, stored)
    }
    func save(_ request: SaveRequest) { process.keeper.save(request) }

    func opened(_ room: HostedRoom) {
        hasOpened = true
        process.clocks.open(room)
    }

    func left(_ room: HostedRoom) {
        process.keeper.evict(room.id)
        process.clocks.leave(room)
        process.cluster.wet.leave(room, by: process)
        process.world.note("\(process.name) lets go of \(room.id)")
    }

    func ready(_ partition: Int) {
        process.world.note("\(process.name) is ready with partition \(partition)")
        hasOpened = true
        progress.append(.ready(partition))
    }

    func closed(_ partition: Int, isWhole: Bool) { progress.append(.closed(partition, isWhole: isWhole)) }
}
