import StrokeWire
import TestSupport
import Whiteboard

@testable import Hosting

/// Records the points of growing strokes that daemons publish, and checks each message as it comes.
final class WetLedger {
    private struct Key: Hashable {
        let room: RoomID
        let author: AuthorID
        let number: Int64
    }

    /// A stroke on the subject of a cohort, or at the head, from one room in the memory of one process.
    struct Track: Hashable {
        fileprivate let room: ObjectIdentifier
        fileprivate let cohort: CohortName?
        fileprivate let author: AuthorID
        fileprivate let number: Int64
    }

    /// What was published of a stroke.
    private struct Shown {
        var values: [Double] = []
        var lastMessage: Instant
        /// When it last went out without anything new, or for the first time.
        var lastRepeat: Instant
        var isLogged = false
        /// Points that may go out once more, because some of them have changed.
        var changed: Set<Int> = []
        /// Number of the changes that are in ``changed``.
        var changes = 0
    }

    private struct Heard: Hashable {
        let process: ObjectIdentifier
        let key: Key
    }

    private let plan: Plan
    private let world: World
    private var strokes: [Key: SentMessage] = [:]
    private var shown: [Track: Shown] = [:]
    /// The encoder session that a process knew of when it first heard of a stroke in a life of the room: another life knows
    /// nothing of it.
    private var sessions: [Heard: KnownClocks.LoggedSession] = [:]
    /// How often a process has heard of points of a stroke that it knew already: what lies between two that have changed
    /// may come again.
    private var changes: [Heard: Int] = [:]
    /// The end of the points that a process has heard of.
    private var ends: [Heard: Int] = [:]
    private var readings: [ObjectIdentifier: RoomReading] = [:]
    /// When a process first heard of a stroke.
    private var heardAt: [Heard: Moment] = [:]
    /// When a room could not publish something for the last time: what it had of strokes then is lost, and each of their tracks
    /// goes on behind it.
    private var interruptions: [ObjectIdentifier: Moment] = [:]
    /// That which came before the last message of each track.
    private var seenInterruptions: [Track: Moment] = [:]
    /// How often each process has said that a stroke is over, and the host does not know whether that has arrived: once a
    /// life of the room, for another life may begin with the same stroke.
    private var ended: [ObjectIdentifier: [Track: Int]] = [:]
    /// After a lost connection that is said again, as often.
    private var endsAgain: [Track: Int] = [:]
    /// What a room has made just before its process begins to publish goes out that much later.
    private static let openingTime = Duration.milliseconds(5)
    private static let interval = Duration.milliseconds(33)
    private static let repeatInterval = Duration.seconds(1)

    init(plan: Plan, world: World) {
        self.plan = plan
        self.world = world
    }

    func begin(_ stroke: SentMessage, in room: RoomID) {
        strokes[Key(room: room, author: stroke.author, number: stroke.number)] = stroke
    }

    /// An update comes to a process.
    func hear(
        _ update: [UInt8], of room: RoomID, by author: AuthorID, _ session: String?, process: DaemonProcess
    ) {
        guard let update = try? WetUpdate(decoding: update) else { return }
        world.note("\(process.name) hears \(author) \(update.number) \(update.update) \(Self.summary(update))")
        let key = Heard(process: ObjectIdentifier(process), key: Key(room: room, author: author, number: update.number))
        heardAt[key] = heardAt[key] ?? world.now
        let logged = process.clocks.loggedSession(of: room)
        if sessions[key]?.life != logged.life { sessions[key] = logged }
        guard case .points(let points) = update.content else { return }
        if points.first < ends[key] ?? 0 { changes[key, default: 0] += 1 }
        ends[key] = max(ends[key] ?? 0, points.first + points.points.count)
    }

    private static func summary(_ update: WetUpdate) -> String {
        guard case .points(let points) = update.content else { return "x" }
        return "\(points.first):\(points.points.count)"
    }

    // MARK: - Messages

    func publish(_ wet: WetPublication, of room: HostedRoom, to cohort: CohortName?, by process: DaemonProcess) {
        guard let release = try? WetRelease(decoding: wet.body) else {
            return report("\(process.name) publishes what cannot be read", room)
        }
        let track = Track(
            room: world.identity(of: room), cohort: cohort, author: release.author, number: release.number)
        let name = "\(process.name) to \(cohort?.text ?? "head"), \(release.author) \(release.number)"
        let isInterrupted = isInterrupted(track, of: room, by: process)
        seenInterruptions[track] = interruptions[track.room]
        guard case .points(let points) = release.content else {
            world.note("\(name): x")
            let before = shown.removeValue(forKey: track)
            let again = endsAgain.removeValue(forKey: track) ?? 0
            // Where it was begun anew meanwhile, its own end is still to come.
            let isShown = !(before?.values.isEmpty ?? true)
            if again > 1 || again == 1 && isShown { endsAgain[track] = max(1, again - 1) }
            if !isShown, !isInterrupted, again == 0 {
                report("\(name): given up, but not shown", room)
            }
            ended[ObjectIdentifier(process), default: [:]][track, default: 0] += 1
            return
        }
        world.note("\(name): \(points.first) \(points.points.count) \(release.index.map { "#\($0)" } ?? "")")
        guard let stroke = strokes[Key(room: room.id, author: release.author, number: release.number)] else {
            return report("\(name): nobody draws it", room)
        }
        // After a restart a process does not know the sessions of what is in the log.
        let isUnknown = release.session == nil && release.index != nil
        if stroke.session != release.session, !isUnknown {
            report("\(name): of session \(release.session ?? "-")", room)
        }
        checkRepeat(points, release.index, track, isInterrupted: isInterrupted, name, room, process)
        guard let cohort else { return }
        guard plan.settings(of: cohort).ink == .progressive else {
            return report("\(name): strokes do not grow there", room)
        }
        if !points.predicted.isEmpty || points.points.contains(where: { $0.x >= Pen.predicted }) {
            report("\(name): predicted points", room)
        }
        checkTimes(points, stroke, isLogged: release.index != nil, name, room, cohort, process)
        checkOrder(release, name, room, cohort, process)
    }

    /// Nothing comes twice but for a cause, nothing too often, and nothing after a gap.
    private func checkRepeat(
        _ points: WetPoints, _ index: UInt64?, _ track: Track, isInterrupted: Bool, _ name: String, _ room: HostedRoom,
        _ process: DaemonProcess
    ) {
        let now = process.now
        var state = shown[track] ?? Shown(lastMessage: .distantPast, lastRepeat: now)
        if state.lastMessage != .distantPast, now - state.lastMessage < Self.interval - Self.openingTime,
            !mayBeRefused(track)
        {
            report("\(name): again after \(now - state.lastMessage)", room)
        }
        state.lastMessage = now
        if points.first > state.values.count {
            if !isInterrupted { report("\(name): from \(points.first) after \(state.values.count)", room) }
            state.values += [Double](repeating: -1, count: points.first - state.values.count)
        }
        var isNew = false
        for (offset, point) in points.points.enumerated() {
            let place = points.first + offset
            if point.x != Double(place) || point.y.rounded(.down) != Double(place % 7) {
                report("\(name): point \(place) is \(point)", room)
            }
            if place == state.values.count {
                state.values.append(point.y)
                isNew = true
            } else if state.values[place] != point.y {
                state.values[place] = point.y
                isNew = true
            }
        }
        let heard = Heard(
            process: ObjectIdentifier(process), key: Key(room: room.id, author: track.author, number: track.number))
        if (index != nil) != state.isLogged || state.changes != changes[heard] ?? 0 {
            state.changed = Set(state.values.indices)
            (state.isLogged, state.changes) = (index != nil, changes[heard] ?? 0)
        }
        let places = points.first..<points.first + points.points.count
        let isChanging = !state.changed.isDisjoint(with: places)
        state.changed.subtract(places)
        // At the head predicted points change.
        if !isNew, !isChanging, track.cohort != nil {
            if !state.values.isEmpty, now - state.lastRepeat < Self.repeatInterval {
                report("\(name): the same again after \(now - state.lastRepeat)", room)
            }
            state.lastRepeat = now
        }
        shown[track] = state
    }

    /// No point lies at or above the video.
    private func checkTimes(
        _ points: WetPoints, _ stroke: SentMessage, isLogged: Bool, _ name: String, _ room: HostedRoom,
        _ cohort: CohortName, _ process: DaemonProcess
    ) {
        let gate = plan.settings(of: cohort).gate
        let known = process.clocks.standing(of: room, cohort).video
        if gate == .none || gate == .auto && known == nil { return }
        guard let video = known, let time = stroke.time, var line = stroke.timeLine else {
            return report("\(name): without a clock, or without a time", room)
        }
        if !plan.namesSessions {
            line = ModelRoom.Life.session(ofLine: line, among: process.clocks.loggedSession(of: room.id).sessions)
        }
        if video.session < line {
            let key = Heard(
                process: ObjectIdentifier(process),
                key: Key(room: room.id, author: stroke.author, number: stroke.number))
            if !isLogged, sessions[key]?.session == line {
                report("\(name): the video is in session \(video.session)", room)
            }
            return
        }
        guard video.session == line, let last = points.points.indices.last else { return }
        let end = (time + Int64((points.first + last) * stroke.step)) * 1_000_000
        if end >= video.farthest { report("\(name): \(end) where the video is at \(video.farthest)", room) }
    }

    /// Nothing comes before what is held of the log, nor after its operation.
    private func checkOrder(
        _ release: WetRelease, _ name: String, _ room: HostedRoom, _ cohort: CohortName, _ process: DaemonProcess
    ) {
        guard let life = life(of: room, process) else { return }
        let isMuted = readings[ObjectIdentifier(room)]?.room.muted.contains(release.author.text) ?? false
        if isMuted, release.index == nil { report("\(name): the author is muted", room) }
        let released = room.cursors[cohort]?.released ?? 0
        let own = life.operations.first { $0.author == release.author.text && $0.number == release.number }
        if own?.index != release.index {
            report("\(name): index \(release.index ?? 0), not \(own?.index ?? 0)", room)
        }
        if let own, own.index <= released { report("\(name): after its operation \(own.index)", room) }
        for operation in life.operations where operation.index > released && operation.index < own?.index ?? .max {
            if operation.kind != .draw || operation.applied.sent.entry.isLasso
                || operation.author == release.author.text
            {
                report("\(name): before operation \(operation.index), which is held", room)
            }
        }
    }

    /// The room's present life, as far as the process has folded in its log.
    private func life(of room: HostedRoom, _ process: DaemonProcess) -> ModelRoom.Life? {
        readings[ObjectIdentifier(room), default: RoomReading(plan.history)].read(
            process.cluster.logs[room.partition], of: room.id, through: room.sequence)
        return readings[ObjectIdentifier(room)]?.life.flatMap { $0.incarnation == room.incarnation ? $0 : nil }
    }

    // MARK: - Ends

    /// A room could not publish something.
    func interrupt(_ room: HostedRoom) {
        interruptions[world.identity(of: room)] = world.now
    }

    /// Whether an interruption has come since the last message of a track, and not before its stroke.
    private func isInterrupted(_ track: Track, of room: HostedRoom, by process: DaemonProcess) -> Bool {
        guard let last = interruptions[track.room], seenInterruptions[track] != last else { return false }
        let key = Heard(
            process: ObjectIdentifier(process), key: Key(room: room.id, author: track.author, number: track.number))
        return heardAt[key].map { $0 <= last } ?? true
    }

    /// The ends that a process has published, and that are not confirmed.
    func ended(by process: DaemonProcess) -> [Track: Int] { ended[ObjectIdentifier(process)] ?? [:] }

    /// The host of a process gets to know that these have arrived.
    func confirm(_ ends: [Track: Int], by process: DaemonProcess) {
        ended[ObjectIdentifier(process)]?.merge(ends.mapValues { -$0 }) { $0 + $1 }
        ended[ObjectIdentifier(process)] = ended[ObjectIdentifier(process)]?.filter { $0.value > 0 }
    }

    /// The host of a process gets to know that its connection is lost.
    func lose(_ process: DaemonProcess) {
        endsAgain.merge(ended.removeValue(forKey: ObjectIdentifier(process)) ?? [:]) { $0 + $1 }
    }

    /// A process publishes an operation: its wet stroke is over.
    func release(
        _ operation: Whiteboard.Operation, of room: HostedRoom, to cohort: CohortName?, by process: DaemonProcess
    ) {
        let track = Track(
            room: ObjectIdentifier(room), cohort: cohort, author: operation.author, number: operation.number)
        guard let state = shown.removeValue(forKey: track), cohort != nil else { return }
        let count = operation.restoredMessage.indices.count {
            operation.restoredMessage[$0...].starts(with: Self.point)
        }
        if state.values.count > count {
            report(
                """
                \(process.name) released \(operation.index) of \(operation.author) with \(count) points, and has shown \
                \(state.values.count)
                """, room)
        }
    }

    private static let point = Array("\"x\":".utf8)

    /// A room has left the memory of a process: those who have points of a stroke know that it is over.
    func leave(_ room: HostedRoom, by process: DaemonProcess) {
        let isHandedOver = process.works[room.partition]?.isClosing ?? true
        for (track, state) in shown where track.room == ObjectIdentifier(room) {
            shown[track] = nil
            if !isHandedOver, !room.isDiscarded, !state.values.isEmpty, !mayBeRefused(track) {
                let cohort = track.cohort?.text ?? "head"
                report("\(process.name) lets go of it with \(track.author) \(track.number) shown to \(cohort)", room)
            }
        }
    }

    /// An operation that is refused is not published at the head: those who have points of its stroke forget it by themselves,
    /// and it may begin anew.
    private func mayBeRefused(_ track: Track) -> Bool { track.cohort == nil && plan.storedRooms < plan.rooms.count }

    /// Everything is at rest: no process keeps anything, and every stroke has come to an end.
    func checkEnd(of process: DaemonProcess) {
        if process.host.wetBytes != 0 {
            world.report("\(process.name) keeps \(process.host.wetBytes) bytes of strokes")
        }
        for room in process.host.rooms.values {
            for (track, state) in shown
            where track.room == ObjectIdentifier(room) && !state.values.isEmpty && !mayBeRefused(track) {
                let cohort = track.cohort?.text ?? "head"
                report("\(process.name) leaves \(track.author) \(track.number) shown to \(cohort)", room)
            }
        }
    }

    private func report(_ text: String, _ room: HostedRoom) { world.report("\(room.id): \(text)") }
}
