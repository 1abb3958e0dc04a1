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
    private var places = 0

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
        guard process.isConnected else {
            for cohort in site.plan.cohorts { site.ledger.keep(room, cohort, by: process) }
            return false
        }
        switch effect {
        case .release(_, let operation, _, _) where site.fault == .losesReleases && operation.index % 8 == 0: break
        case .feedback(_, .rejected) where site.fault == .losesAnswers: break
        case .feedback(let author, let feedback):
            site.ledger.tell(feedback, to: author, of: room.id)
            site.wire.tell(feedback, to: author, of: room.id)
        case .head(let operation):
            site.ledger.head(operation, of: room)
        case .release(let cohort, let operation, let isLate, _):
            process.world.note(
                "\(process.name) releases \(room.id) \(operation.index) to \(cohort)\(isLate ? " late" : "")")
            site.ledger.release(operation, of: room, to: cohort, isLate: isLate, by: process)
            site.wire.release(operation, of: room.incarnation, to: room.id, cohort)
        case .mark(let cohort, let mark):
            site.wire.mark(mark, to: room.id, cohort)
        case .record:
            process.report("a decision was to be published")
        }
        return true
    }

    func append(_ record: ControlRecord, to room: HostedRoom, id: String, at now: Instant) -> JournalRecord? {
        guard process.isConnected, !process.world.chance(50) else { return nil }
        let log = process.site.logs[room.partition]
        let room = room.id
        process.world.after(0...15) { log.take(.control(record), of: room, id: id) }
        return nil
    }

    func refuse(_ record: JournalRecord) { process.report("refuses a record of a journal that lasts") }

    func takePlace() -> Bool {
        guard places < process.site.plan.places else { return false }
        places += 1
        return true
    }

    func giveBackPlace() {
        places -= 1
        if places < 0 { process.report("gives back more places than it took") }
    }

    func fetch(_ room: RoomID, _ stored: StoredRoom) { process.keeper.fetch(room) }
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
