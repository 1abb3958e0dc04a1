import Hosting
import StrokeWire
import Whiteboard

/// What a host does to the simulated world.
final class ProcessOutput: HostOutput {
    enum Progress {
        case ready(Int)
        case closed(Int)
    }

    private unowned let process: DaemonProcess
    private var progress: [Progress] = []
    private var hasOpened = false
    private var stored: [Int: Int] = [:]

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
        let site = process.site
        guard process.canPublish else {
            for cohort in site.plan.cohorts { site.ledger.keep(room, cohort, by: process) }
            return false
        }
        let life = room.incarnation
        switch effect {
        case .release(_, let operation, _, _) where site.fault == .losesReleases && operation.index % 8 == 0: break
        case .feedback(_, _, .rejected) where site.fault == .losesAnswers: break
        case .feedback(let author, let session, let feedback):
            let message = FeedbackMessage(session: session, feedback: feedback)
            if site.fault == .losesPatience, case .missingRange(let from, let to) = feedback {
                let record = ControlRecord.gaveUp(author: author, from: from, to: to)
                site.logs[room.partition].take(.control(record), of: room.id, id: nil)
            }
            process.buffer.send { [id = room.id] in
                site.ledger.tell(message, to: author, of: id)
                site.wire.tell(message, to: author, of: id)
            }
        case .head(let operation):
            process.buffer.send { site.ledger.head(operation, of: room, life) }
        case .release(let cohort, let operation, let isLate, _):
            site.ledger.say(operation, of: room, to: cohort, by: process)
            process.buffer.send { [process] in
                let late = isLate ? " late" : ""
                process.world.note("\(process.name) releases \(room.id) \(operation.index) to \(cohort)\(late)")
                site.ledger.release(operation, of: room, life, to: cohort, isLate: isLate, by: process)
                site.wire.release(operation, of: life, to: room.id, cohort)
            }
        case .mark(let cohort, let mark):
            process.buffer.send { [id = room.id] in site.wire.mark(mark, to: id, cohort) }
        case .record:
            process.report("a decision was to be published")
        }
        return true
    }

    func confirm() {
        let answer = { [process] isConfirmed in process.host.confirmed(isConfirmed, at: process.now) }
        // A host that is told that all has arrived forgets it.
        if process.site.fault == .forgetsUnconfirmed {
            process.world.after(.zero) { [process] in process.post { answer(true) } }
        } else {
            process.confirm(answer)
        }
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        guard process.isReached, !process.world.chance(50) else { return nil }
        let log = process.site.logs[room.partition]
        let room = room.id
        let delay = process.site.fault == .dawdles ? 5500...6000 : 0...15
        process.world.after(delay) { log.take(.control(record), of: room, id: nil) }
        return nil
    }

    func countNew(_ partition: Int) -> Bool {
        guard stored[partition, default: 0] < process.site.plan.storedRooms else { return false }
        countStored(1, of: partition)
        return true
    }

    func countStored(_ change: Int, of partition: Int) {
        stored[partition, default: 0] += change
        if stored[partition, default: 0] < 0 { process.report("counts fewer rooms than none") }
    }

    func fetch(_ room: RoomID, _ stored: StoredRoom) { process.keeper.fetch(room, stored.sequence) }
    func save(_ request: SaveRequest) { process.keeper.save(request) }
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
    func opened(_ room: HostedRoom) { hasOpened = true }

    func left(_ room: HostedRoom) {
        process.world.note("\(process.name) lets go of \(room.id)")
    }

    func forgotten(_ room: RoomID) {}
    func ready(_ partition: Int) {
        process.world.note("\(process.name) is ready with partition \(partition)")
        hasOpened = true
        progress.append(.ready(partition))
    }

    func closed(_ partition: Int) { progress.append(.closed(partition)) }
}
