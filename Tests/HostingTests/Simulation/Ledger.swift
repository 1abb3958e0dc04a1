import StrokeWire
import Whiteboard

@testable import Hosting

/// Records everything that daemons publish, and checks it as far as one message shows that it is wrong.
final class Ledger {
    /// The operation at an index of a life, the same from every daemon.
    struct Content: Equatable {
        let author: String
        let number: Int64
        let action: Action
        let reference: UInt64?
        let page: Int
        let isLate: Bool
        let digest: UInt64
        let bytes: [UInt8]
    }

    struct Place: Hashable {
        let life: Life
        let index: UInt64
    }

    struct Life: Hashable {
        let room: RoomID
        let incarnation: String
    }

    struct Following: Hashable {
        let life: Life
        let cohort: CohortName
    }

    struct Release {
        let following: Following
        let index: UInt64
        let isLate: Bool
        /// What the process knew of the cohort's video each time that it published this.
        let standings: [Standing]
        let at: Moment
        let process: String
    }

    struct Order: Hashable {
        fileprivate let room: ObjectIdentifier
        fileprivate let following: Following
    }

    /// The last index in each order.
    typealias Said = [Order: UInt64]

    private let world: World
    private(set) var contents: [Place: Content] = [:]
    /// When each of them was first said.
    private(set) var saidAt: [Place: Moment] = [:]
    private(set) var releases: [Release] = []
    private(set) var published: [Following: Set<UInt64>] = [:]
    private var farthest: [Following: UInt64] = [:]
    private(set) var told: [RoomID: [String: [FeedbackMessage]]] = [:]
    /// The last release that each process has published, and the last one that its host knows to have arrived.
    private var lastSaid: [ObjectIdentifier: Said] = [:]
    private var confirmed: [Order: UInt64] = [:]
    /// After a lost connection: the release after which a room goes on.
    private var repeatsAfter: [Order: UInt64] = [:]
    /// The most that was acknowledged of each room.
    private var acknowledged: [RoomID: CursorNote] = [:]
    /// When something of a room was damaged: what was stored before may be gone.
    private var spoilt: [RoomID: Moment] = [:]
    /// How often each partition was opened.
    private var openings: [Int: Int] = [:]
    private var said: [Order: [UInt64: [Standing]]] = [:]

    init(world: World) {
        self.world = world
    }

    func tell(_ feedback: FeedbackMessage, to author: AuthorID, of room: RoomID) {
        told[room, default: [:]][author.text, default: []].append(feedback)
    }

    /// - Parameter life: the room's life when the operation was published.
    func head(_ operation: Whiteboard.Operation, of room: HostedRoom, _ life: String) {
        note(operation, Life(room: room.id, incarnation: life))
    }

    /// A process publishes a release. It may be lost and published again; it must be due when it is published first.
    func say(_ operation: Whiteboard.Operation, of room: HostedRoom, to cohort: CohortName, by process: DaemonProcess) {
        let order = order(of: room, room.incarnation, cohort)
        checkOrder(operation.index, order, by: process)
        said[order, default: [:]][operation.index, default: []].append(process.clocks.standing(of: room, cohort))
        if confirmed[order] == nil { confirmed[order] = operation.index - 1 }
        lastSaid[ObjectIdentifier(process), default: [:]][order] = operation.index
    }

    /// What a process has published so far.
    func said(by process: DaemonProcess) -> Said { lastSaid[ObjectIdentifier(process)] ?? [:] }

    /// The host of a process gets to know that all of that has arrived.
    func confirm(_ said: Said) { confirmed.merge(said) { $1 } }

    /// The host of a process gets to know that its connection is lost: each of its rooms goes on after what is confirmed.
    func lose(_ process: DaemonProcess) {
        for order in said(by: process).keys { repeatsAfter[order] = confirmed[order] }
    }

    /// A release has arrived at the server.
    /// - Parameter name: the room's life when the release was published.
    func release(
        _ operation: Whiteboard.Operation, of room: HostedRoom, _ name: String, to cohort: CohortName, isLate: Bool,
        by process: DaemonProcess
    ) {
        let order = order(of: room, name, cohort)
        let following = order.following
        note(operation, following.life)
        if operation.index > reached(following) + 1 {
            report("\(process.name) releases \(operation.index) of \(following); students have \(reached(following))")
        }
        published[following, default: []].insert(operation.index)
        farthest[following] = max(farthest[following] ?? 0, operation.index)
        releases.append(
            Release(
                following: following, index: operation.index, isLate: isLate,
                standings: said[order]?[operation.index] ?? [], at: world.now, process: process.name))
    }

    /// A process has no connection: what a room has just released is published later.
    func keep(_ room: HostedRoom, _ cohort: CohortName, by process: DaemonProcess) {
        let order = order(of: room, room.incarnation, cohort)
        var index = room.cursors[cohort]?.released ?? 0
        while index > 0, said[order]?[index] == nil {
            said[order, default: [:]][index] = [process.clocks.standing(of: room, cohort)]
            index -= 1
        }
    }

    private func order(of room: HostedRoom, _ name: String, _ cohort: CohortName) -> Order {
        let following = Following(life: Life(room: room.id, incarnation: name), cohort: cohort)
        return Order(room: world.identity(of: room), following: following)
    }

    /// The same index has the same content from every daemon at every time.
    private func note(_ operation: Whiteboard.Operation, _ life: Life) {
        let content = Content(
            author: operation.author.text, number: operation.number, action: operation.action,
            reference: operation.reference, page: operation.page, isLate: operation.isLate,
            digest: operation.digest.value,
            bytes: operation.restoredMessage)
        let place = Place(life: life, index: operation.index)
        if contents[place] == nil {
            world.note("\(life.room) has \(place.index): \(content.author) \(content.action) \(content.number)")
            saidAt[place] = world.now
        }
        if let known = contents[place], known != content {
            report("\(life.room) \(life.incarnation): \(operation.index) is \(content), and was \(known)")
        }
        contents[place] = content
    }

    /// A room releases the next index, after a lost connection the one after what is confirmed.
    private func checkOrder(_ index: UInt64, _ key: Order, by process: DaemonProcess) {
        let repeatsAfter = repeatsAfter.removeValue(forKey: key)
        guard let last = lastSaid[ObjectIdentifier(process)]?[key] else { return }
        // The room may have been loaded from the checkpoint of a daemon that was ahead.
        let isTaken = index > last && index <= reached(key.following) + 1
        guard index == last + 1 || index == repeatsAfter.map({ $0 + 1 }) || isTaken else {
            return report("\(process.name) releases \(index) of \(key.following) after \(last)")
        }
    }

    /// A cursor in a checkpoint is never ahead of what was published.
    func save(_ stored: StoredRoom, of room: RoomID) {
        guard stored.hasState else { return }
        let life = Life(room: room, incarnation: stored.incarnation)
        for (cohort, cursor) in stored.cursors where cursor.released > reached(Following(life: life, cohort: cohort)) {
            report("a checkpoint of \(room) has \(cohort) at \(cursor.released), beyond what was published")
        }
    }

    /// The host of a process gets to know that this is stored. It counts as long as no other has opened the partition, which
    /// may have read less.
    /// - Parameter askedAt: when the host has asked for it.
    func acknowledge(_ note: CursorNote, of partition: Int, in opening: Int, askedAt: Moment) {
        guard opening == openings[partition], spoilt[note.room].map({ $0 < askedAt }) ?? true else { return }
        acknowledged[note.room, default: note].join(note)
    }

    /// Something that is stored of rooms is damaged.
    func spoil(_ rooms: [RoomID]) {
        for room in rooms { (spoilt[room], acknowledged[room]) = (world.now, nil) }
    }

    /// Whoever opens a partition finds at least what was acknowledged to the one before.
    /// - Returns: the number of the opening.
    func open(_ partition: Int, _ catalogue: SimulatedCheckpoints.Catalogue) -> Int {
        openings[partition, default: 0] += 1
        for (room, manifest) in catalogue.rooms {
            guard let note = acknowledged[room] else { continue }
            let isBehind =
                manifest.incarnation != note.incarnation
                ? manifest.handled < note.handled
                : manifest.handled < note.handled
                    || note.cursors.contains { $1.released > manifest.cursors[$0]?.released ?? 0 }
            if isBehind { report("\(room) is stored as \(CursorNote(manifest)), and was acknowledged as \(note)") }
        }
        return openings[partition] ?? 0
    }

    /// The last index that students of a cohort can have: a new cohort begins where `main` is.
    private func reached(_ following: Following) -> UInt64 {
        farthest[following] ?? farthest[Following(life: following.life, cohort: .main)] ?? 0
    }

    private func report(_ text: String) { world.report(text) }
}
