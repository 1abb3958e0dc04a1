import StrokeWire
import TestSupport
import Whiteboard

/// An author of a room: draws, undoes, redoes, clears; sends every message until it is acknowledged, and again when the
/// room reports it missing. The network loses, repeats and reorders messages; some never get through.
final class Teacher {
    let room: RoomID
    let id: AuthorID
    private let world: World
    private let cluster: Cluster
    private let encoder: Encoder
    /// From then on no stroke is sent before it is whole.
    private let penRest: Moment
    private var outbox: [Int64: [Int: SentMessage]] = [:]
    private var session: String?
    private var next: Int64
    private var sendings = 0
    /// Numbers of operations that never get through.
    private var doomed: Set<Int64> = []
    /// Indices of its operations, as far as it was told.
    private var indices: [UInt64] = []
    private var isOver = false

    init(room: RoomID, id: AuthorID, encoder: Encoder, cluster: Cluster, penRest: Moment) {
        (self.room, self.id, self.encoder, self.cluster, self.penRest) = (room, id, encoder, cluster, penRest)
        world = cluster.world
        next = Int64(world.random.int(2...40))
        session = world.chance(600) ? "s0" : nil
    }

    /// Schedules a number of operations.
    func write(_ operations: Int, from start: Moment) {
        var at = start
        for _ in 0..<operations {
            at = at + world.random.milliseconds(10...world.random.int(20...1500))
            world.at(at) { [self] in act() }
        }
        if world.chance(300) { world.at(at + .milliseconds(500)) { [self] in strokeSlowly() } }
        guard session != nil, world.chance(300) else { return }
        // The page is reloaded: another session, with numbers that a check can tell from the earlier ones.
        world.at(start + world.random.milliseconds(1000...15_000)) { [self] in
            session = "s1"
            next = Int64(world.random.int(1000...1040))
            outbox = [:]
        }
    }

    /// Ends resending; messages in flight still arrive.
    func stop() { isOver = true }

    /// Feedback of a daemon has arrived.
    func hear(_ message: FeedbackMessage) {
        guard message.session == session else { return }
        let wanted: [SentMessage]
        switch message.feedback {
        case .missingRange(let from, let to):
            wanted = (from...min(to, from + 50)).flatMap { outbox[$0].map { Array($0.values) } ?? [] }
        case .missingShards(let number, let orders): wanted = orders.compactMap { outbox[number]?[$0] }
        case .applied(_, let index):
            if !indices.contains(index) { indices.append(index) }
            return
        case .gaveUp, .rejected, .covered, .behindLive: return
        }
        for sent in wanted.sorted(by: { ($0.number, $0.part) < ($1.number, $1.part) })
        where !doomed.contains(sent.number) {
            post(sent)
        }
    }

    private func act() {
        var sent = message(next)
        next += 1
        if world.chance(25) { doomed.insert(sent.number) }
        let picture = encoder.picture(at: world.now)
        sent.time = picture.media + Int64(world.random.int(-300...0))
        if world.chance(15) { sent.time = nil }
        if world.chance(10) { sent.time = 1_000_000_000_000_000 }
        if let time = sent.time, time < 1_000_000_000 { sent.timeLine = picture.session }
        sent.page = world.chance(250) ? world.random.int(0...3) : nil
        if world.chance(150) { sent.entry = world.chance(500) ? .image : .lasso(copies: world.chance(300)) }
        if sent.entry == .stroke, sent.number % 8 == 3 { sent.entry = .pointer }
        if sent.entry == .stroke, sent.number % 8 == 5 { sent.entry = .text }
        switch world.random.int(0...99) {
        case 0...69
        where (sent.entry == .stroke || sent.entry == .pointer) && sent.timeLine != nil && world.now < penRest
            && world.chance(600):
            draw(sent, at: picture)
        case 0...69: stroke(sent)
        case 70...81: command(.undo, sent)
        case 82...91: command(.redo, sent)
        case 92...93: command(.clear, sent)
        case 94...95: remove(sent)
        case 96:
            let kind = world.chance(500) ? SentMessage.Kind.paper : .turn
            sent.page = world.random.int(0...4)
            command(kind, sent)
        case 97:
            sent.order = Array((0...4).shuffled(using: &world.random).prefix(world.random.int(1...5)))
            sent.page = nil
            command(.arrange, sent)
        default:
            post(SentMessage(.garbage, sent.number, by: id, session: session))
            command(.undo, sent)
        }
    }

    /// A draw under a number of the present session.
    private func message(_ number: Int64) -> SentMessage { SentMessage(.draw, number, by: id, session: session) }

    /// Removes some of the latest entries that it knows, and entries of others.
    private func remove(_ sent: SentMessage) {
        var sent = sent
        let known = indices.suffix(12).shuffled(using: &world.random).prefix(world.random.int(1...5))
        let guess = UInt64(world.random.int(1...40))
        sent.indices = known.contains(guess) ? Array(known) : known + [guess]
        command(.remove, sent)
    }

    private func command(_ kind: SentMessage.Kind, _ sent: SentMessage) {
        var sent = sent
        (sent.kind, sent.entry) = (kind, .stroke)
        outbox[sent.number] = [0: sent]
        post(sent)
    }

    /// Draws a stroke point by point, and sends updates of it. At its end comes the operation, or something else under
    /// its number.
    private func draw(_ sent: SentMessage, at picture: Encoder.Picture) {
        var sent = sent
        (sent.page, sent.time) = (nil, picture.media)
        let pen = Pen(sent, world: world)
        cluster.wet.begin(pen.stroke, in: room)
        step(pen)
    }

    private func step(_ pen: Pen) {
        // The page was reloaded: nobody knows of the stroke any more.
        guard pen.stroke.session == session else { return }
        for update in pen.move() where !isOver { cluster.network.draw(update, in: room, by: id, session) }
        guard pen.isUp else { return world.after(.milliseconds(pen.stroke.step)) { [self] in step(pen) } }
        if pen.isGivenUp, world.chance(500) { command(.undo, pen.stroke) } else { stroke(pen.stroke) }
    }

    private func stroke(_ sent: SentMessage) {
        var sent = sent
        sent.parts = world.chance(300) && sent.entry != .image ? world.random.int(2...5) : 1
        sent.base = world.random.int(0...1)
        // An image has two points, its opposite corners.
        let end = sent.entry == .image ? 2 : world.random.int(13...16)
        let cuts = [0] + (1..<sent.parts).map { _ in world.random.int(0...12) }.sorted() + [end]
        cluster.wet.begin(sent, in: room)
        for part in 0..<sent.parts { postShard(part, cuts[part]..<cuts[part + 1], of: sent) }
    }

    private func postShard(_ part: Int, _ points: Range<Int>, of sent: SentMessage) {
        var sent = sent
        (sent.part, sent.ink) = (part, Array(points))
        outbox[sent.number, default: [:]][part + sent.base] = sent
        post(sent)
    }

    /// Sends a stroke whose shards come seconds apart, the last message of its author.
    private func strokeSlowly() {
        guard !isOver else { return }
        var sent = message(next)
        next += 1
        let picture = encoder.picture(at: world.now)
        (sent.time, sent.timeLine, sent.parts) = (picture.media, picture.session, 3)
        let pause = world.random.milliseconds(6000...9500)
        cluster.wet.begin(sent, in: room)
        for part in 0..<3 {
            world.after(pause * part) { [self] in
                if !isOver, sent.session == session { postShard(part, 4 * part..<4 * part + 4, of: sent) }
            }
        }
    }

    /// Publishes a message until it is acknowledged.
    private func post(_ sent: SentMessage) {
        sendings += 1
        // A message that the room requests gets a new id; one that is not acknowledged keeps its id.
        let id = "\(room).\(id).\(sendings)"
        if doomed.contains(sent.number), sent.kind != .garbage, sent.part == sent.parts - 1 { return }
        publish(sent, id, attempt: 0)
        if world.chance(40) { publish(sent, "\(id).again", attempt: 9) }
    }

    private func publish(_ sent: SentMessage, _ id: String, attempt: Int) {
        guard attempt < 10 else { return }
        var isAcknowledged = false
        let content = JournalRecord.Content.message(author: self.id, session: sent.session, bytes: sent.bytes)
        if !world.chance(60) {
            let delay = world.chance(30) ? world.random.milliseconds(500...9000) : world.random.milliseconds(1...60)
            world.after(delay) { [self] in
                cluster.log(of: room).take(content, of: room, id: id, sent: sent) { isAcknowledged = true }
            }
        }
        world.after(800...2000) { [self] in
            if !isAcknowledged, !isOver { publish(sent, id, attempt: attempt + 1) }
        }
    }
}

/// The encoder of the teacher's video: its media time, with pauses and with restarts that begin a new session at 0.
final class Encoder {
    struct Picture {
        let session: Int64
        /// Milliseconds.
        let media: Int64
        let isPaused: Bool
    }

    private struct Stretch {
        let from: Moment
        let session, media: Int64
        let isPaused: Bool
    }

    private var stretches: [Stretch]

    /// - Parameters:
    ///   - pauses: when the video stands still; they do not overlap.
    ///   - restarts: when a new session begins.
    init(media: Int64, pauses: [(from: Moment, to: Moment)], restarts: [Moment]) {
        stretches = [Stretch(from: Moment(nanoseconds: .min / 2), session: 1, media: media, isPaused: true)]
        stretches.append(Stretch(from: Moment(nanoseconds: 0), session: 1, media: media, isPaused: false))
        let changes =
            pauses.flatMap { [($0.from, true as Bool?), ($0.to, false)] } + restarts.map { ($0, nil) }
        for (at, isPaused) in changes.sorted(by: { $0.0 < $1.0 }) {
            let before = picture(at: at)
            stretches.append(
                Stretch(
                    from: at, session: isPaused == nil ? before.session + 1 : before.session,
                    media: isPaused == nil ? 0 : before.media, isPaused: isPaused ?? before.isPaused))
        }
    }

    func picture(at moment: Moment) -> Picture {
        guard let stretch = stretches.last(where: { $0.from <= moment }) ?? stretches.first else {
            return Picture(session: 1, media: 0, isPaused: true)
        }
        let elapsed = stretch.isPaused ? 0 : (moment.nanoseconds - stretch.from.nanoseconds) / 1_000_000
        return Picture(session: stretch.session, media: stretch.media + elapsed, isPaused: stretch.isPaused)
    }
}
