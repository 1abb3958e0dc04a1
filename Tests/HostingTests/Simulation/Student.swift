import StrokeWire
import TestSupport
import Whiteboard

/// A student of one cohort: joins, applies operations, drops repeats, joins again when one is missing.
final class Student {
    let room: RoomID
    let cohort: CohortName
    let name: String
    private let world: World
    private let network: SimulatedNetwork
    private(set) var incarnation = ""
    private var board = Student.blank
    private var isJoined = false
    private var asked = 0
    /// Operations that came before the reply to the join; the reply may contain them.
    private var heard: [(operation: Whiteboard.Operation, life: String)] = []
    /// The room of the last mark that came before the reply to the join.
    private var markedRoom: String?
    var isConnected = true

    init(_ name: String, room: RoomID, cohort: CohortName, world: World, network: SimulatedNetwork) {
        (self.name, self.room, self.cohort, self.world, self.network) = (name, room, cohort, world, network)
    }

    /// Clears are final in all schedules.
    private static let rules = HistoryConfiguration(clear: .final)
    private static var blank: ModelStudent { ModelStudent(rules) }
    var index: UInt64 { board.index }
    var visible: [UInt64] { board.visible }
    var pages: BoardPages { board.pages }

    /// Asks for the board until there is a reply.
    func join() {
        isJoined = false
        markedRoom = nil
        asked += 1
        let question = asked
        let known = JoinRequest(
            incarnation: incarnation.isEmpty ? nil : incarnation, have: incarnation.isEmpty ? nil : index)
        network.join(room, cohort, known) { [weak self] answer in
            // Of two answers the first one counts.
            if let self, self.asked == question, !self.isJoined, self.isConnected { self.take(answer) }
        }
        world.after(1000...1500) { [weak self] in
            if let self, self.asked == question, !self.isJoined { self.join() }
        }
    }

    func disconnect(for duration: Duration) {
        guard isConnected else { return }
        isConnected = false
        heard = []
        world.after(duration) { [self] in
            isConnected = true
            join()
        }
    }

    func hear(_ mark: Mark) {
        guard isConnected else { return }
        guard isJoined else {
            markedRoom = mark.room
            return
        }
        guard mark.room == incarnation else {
            // A life has ended, maybe one before this: a daemon that lags tells of its end late.
            reset()
            return join()
        }
        if mark.index > index { join() }
        if mark.index == index, mark.digest.value != board.digest { report("a mark of another board") }
    }

    func hear(_ operation: Whiteboard.Operation, of life: String) {
        guard isConnected else { return }
        guard isJoined else { return heard.append((operation, life)) }
        if incarnation.isEmpty, operation.index == 1 { incarnation = life }
        guard life == incarnation, operation.index <= index + 1 else { return join() }
        apply(operation)
    }

    private func take(_ answer: CatchUp) {
        isJoined = true
        show(answer)
        let waiting = heard
        heard = []
        for (operation, life) in waiting { hear(operation, of: life) }
        // It may have been the only sign of an end.
        if isJoined, let markedRoom, markedRoom != incarnation { join() }
    }

    private func show(_ answer: CatchUp) {
        if answer.incarnation != incarnation {
            reset()
            incarnation = answer.incarnation
        }
        switch answer.content {
        case .tail(let operations):
            for operation in operations { apply(operation) }
        case .version: report("a board at a position that was not asked for")
        case .board(let board):
            if answer.index < index { report("a board of \(answer.index), as if the log had lost what follows") }
            self.board = ModelStudent(Self.rules, board: board)
            if answer.digest.value != self.board.digest { report("a board of another digest") }
        }
    }

    private func reset() { (incarnation, board) = ("", Self.blank) }

    private func apply(_ operation: Whiteboard.Operation) {
        guard operation.index > index else { return }
        guard operation.index == index + 1 else { return join() }
        for fault in board.take(operation) { report(fault) }
        if operation.digest.value != board.digest { report("operation \(index) gives another digest") }
    }

    private func report(_ text: String) {
        world.report("\(room) \(name) of \(cohort) at \(index) of \(incarnation): \(text)")
    }
}

/// The video as one cohort sees it: delayed, with stalls that add to the delay and jumps that change it. Sends clock
/// samples, which each daemon may miss.
final class Player {
    let room: RoomID
    let cohort: CohortName
    private let world: World
    private let encoder: Encoder
    private let network: SimulatedNetwork
    private let plan: Plan
    private var delay: Duration
    private var stalledSince: Moment?
    private var number: Int64 = 0

    init(
        room: RoomID, cohort: CohortName, encoder: Encoder, delay: Duration, plan: Plan, world: World,
        network: SimulatedNetwork
    ) {
        (self.room, self.cohort, self.encoder, self.delay) = (room, cohort, encoder, delay)
        (self.plan, self.world, self.network) = (plan, world, network)
    }

    func play(from start: Moment, until end: Moment) { world.at(start) { [self] in sample(until: end) } }

    /// The network falls behind for a while.
    func stall(for duration: Duration) {
        guard stalledSince == nil else { return }
        stalledSince = world.now
        say()
        world.after(duration) { [self] in
            if let since = stalledSince { delay = delay + (world.now - since) }
            stalledSince = nil
            say()
        }
    }

    /// The player skips forward or back, and marks the next sample as a discontinuity.
    func jump(by distance: Duration) {
        guard stalledSince == nil else { return }
        delay = max(.milliseconds(100), delay - distance)
        say(isDiscontinuity: true)
    }

    private func sample(until end: Moment) {
        say()
        guard world.now < end else { return }
        world.after(200...500) { [self] in sample(until: end) }
    }

    private func say(isDiscontinuity: Bool = false) {
        let seen = Moment(nanoseconds: (stalledSince ?? world.now).nanoseconds - delay.nanoseconds)
        let picture = encoder.picture(at: seen)
        let state = stalledSince != nil ? "stall" : picture.isPaused ? "pause" : "play"
        number += 1
        let session = plan.namesSessions ? ",\"ep\":\(picture.session)" : ""
        let age = plan.tellsAge ? ",\"a\":\((world.now - seen) / .milliseconds(1))" : ""
        // What the models alone look at.
        let line = ",\"w\":\(picture.session)"
        let jump = isDiscontinuity ? ",\"d\":true" : ""
        let text = "{\"m\":\(picture.media),\"q\":\(number),\"s\":\"\(state)\"\(session)\(age)\(line)\(jump)}"
        network.clock(Array(text.utf8), of: room, cohort)
    }
}
