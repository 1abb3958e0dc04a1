import StrokeWire
import TestSupport
import Whiteboard

/// An author of a room: draws, undoes, redoes, clears; sends every message until it is acknowledged, and again when the
/// room reports it missing. The network loses, repeats and reorders messages; some never get through.
final class Teacher {
    let room: RoomID
    let id: AuthorID
    private let world: World
    private let log: SimulatedLog
    private let encoder: Encoder
    private let network: SimulatedNetwork
    private let pens: WetLedger
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

    init(
        room: RoomID, id: AuthorID, encoder: Encoder, log: SimulatedLog, world: World, network: SimulatedNetwork,
        pens: WetLedger, penRest: Moment
    ) {
        (self.network, self.pens, self.penRest, self.room) = (network, pens, penRest, room)
        (self.id, self.encoder, self.log, self.world) = (id, encoder, log, world)
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
            post(sent, isRepeat: true)
        }
    }

    private func act() {
        let number = next
        next += 1
        if world.chance(25) { doomed.insert(number) }
        let picture = encoder.picture(at: world.now)
        var time: Int64? = picture.media + Int64(world.random.int(-300...0))
        if world.chance(15) { time = nil }
        if world.chance(10) { time = 1_000_000_000_000_000 }
        let line = time.map { $0 < 1_000_000_000 } ?? false ? picture.session : nil
        let page = world.chance(250) ? world.random.int(0...3) : nil
        var text = MessageText(number: number, time: time, page: page)
        if world.chance(150) { text.entry = world.chance(500) ? .image : .lasso(copies: world.chance(300)) }
        if text.entry == .stroke, number % 8 == 3 { text.entry = .pointer }
        if text.entry == .stroke, number % 8 == 5 { text.entry = .text }
        switch world.random.int(0...99) {
        case 0...69
        where (text.entry == .stroke || text.entry == .pointer) && line != nil && world.now < penRest
            && world.chance(600):
            draw(number, text.entry, at: picture)
        case 0...69: stroke(text, number, time, line)
        case 70...81: command(.undo, text, number, time, line)
        case 82...91: command(.redo, text, number, time, line)
        case 92...93: command(.clear, text, number, time, line)
        case 94...95: remove(text, number, time, line)
        case 96 where world.chance(500):
            var paper = text
            paper.page = world.random.int(0...4)
            command(.paper, paper, number, time, line)
        case 96:
            var turn = text
            turn.page = world.random.int(0...4)
            command(.turn, turn, number, time, line)
        case 97:
            let order = Array((0...4).shuffled(using: &world.random).prefix(world.random.int(1...5)))
            command(.arrange, MessageText(number: number, time: time, order: order), number, time, line)
        default:
            let bytes = Array("{\"n\":\(number)".utf8)
            post(SentMessage(author: id, session: session, number: 0, kind: .garbage, bytes: bytes))
            command(.undo, text, number, time, line)
        }
    }

    /// Removes some of the latest entries that it knows, and entries of others.
    private func remove(_ text: MessageText, _ number: Int64, _ time: Int64?, _ line: Int64?) {
        var text = text
        let known = indices.suffix(12).shuffled(using: &world.random).prefix(world.random.int(1...5))
        let guess = UInt64(world.random.int(1...40))
        text.indices = known.contains(guess) ? Array(known) : known + [guess]
        command(.remove, text, number, time, line)
    }

    private func command(_ kind: SentMessage.Kind, _ text: MessageText, _ number: Int64, _ time: Int64?, _ line: Int64?)
    {
        let sent = SentMessage(
            author: id, session: session, number: number, kind: kind, page: text.page,
            order: text.order, indices: text.indices, time: time, timeLine: line, bytes: text.command(kind))
        outbox[number] = [0: sent]
        post(sent)
    }

    /// Draws a stroke point by point, and sends updates of it. At its end comes the operation, or something else under
    /// its number.
    private func draw(_ number: Int64, _ entry: SentMessage.Entry, at picture: Encoder.Picture) {
        let pen = Pen(
            room: room, author: id, session: session, number: number, isPointer: entry == .pointer, time: picture.media,
            line: picture.session, world: world)
        pens.begin(pen.stroke)
        step(pen)
    }

    private func step(_ pen: Pen) {
        // The page was reloaded: nobody knows of the stroke any more.
        guard pen.stroke.session == session else { return }
        for update in pen.move() where !isOver { network.draw(update, in: room, by: id, session) }
        guard pen.isUp else { return world.after(.milliseconds(pen.stroke.step)) { [self] in step(pen) } }
        var text = MessageText(number: pen.stroke.number, time: pen.stroke.time, step: pen.stroke.step)
        if pen.isPointer { text.entry = .pointer }
        if pen.isGivenUp, world.chance(500) {
            command(.undo, text, pen.stroke.number, pen.stroke.time, pen.stroke.line)
        } else {
            stroke(text, pen.stroke.number, pen.stroke.time, pen.stroke.line)
        }
    }

    private func stroke(_ text: MessageText, _ number: Int64, _ time: Int64?, _ line: Int64?) {
        let parts = world.chance(300) && text.entry != .image ? world.random.int(2...5) : 1
        let base = world.random.int(0...1)
        // An image has two points, its opposite corners.
        let end = text.entry == .image ? 2 : world.random.int(13...16)
        let cuts = [0] + (1..<parts).map { _ in world.random.int(0...12) }.sorted() + [end]
        pens.begin(
            DrawnStroke(
                room: room, author: id, session: session, number: number, time: time, line: line, step: text.step))
        for part in 0..<parts {
            let ink = Array(cuts[part]..<cuts[part + 1])
            let sent = SentMessage(
                author: id, session: session, number: number, kind: .draw, page: text.page, part: part,
                parts: parts, ink: ink, entry: text.entry,
                time: time, timeLine: line, reach: Int64((ink.last ?? 0) * text.step),
                bytes: text.stroke(ink, order: part + base, of: parts))
            outbox[number, default: [:]][part + base] = sent
            post(sent)
        }
    }

    /// Sends a stroke whose shards come seconds apart, the last message of its author.
    private func strokeSlowly() {
        guard !isOver else { return }
        let (number, session) = (next, session)
        next += 1
        let picture = encoder.picture(at: world.now)
        let text = MessageText(number: number, time: picture.media)
        let pause = world.random.milliseconds(6000...9500)
        pens.begin(
            DrawnStroke(
                room: room, author: id, session: session, number: number, time: text.time, line: picture.session,
                step: 0))
        for part in 0..<3 {
            world.after(pause * part) { [self] in
                guard !isOver, self.session == session else { return }
                let ink = Array(4 * part..<4 * part + 4)
                let sent = SentMessage(
                    author: id, session: session, number: number, kind: .draw, part: part, parts: 3, ink: ink,
                    time: text.time, timeLine: picture.session, bytes: text.stroke(ink, order: part, of: 3))
                outbox[number, default: [:]][part] = sent
                post(sent)
            }
        }
    }

    /// Publishes a message until it is acknowledged.
    private func post(_ sent: SentMessage, isRepeat: Bool = false) {
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
                log.take(content, of: room, id: id, sent: sent) { isAcknowledged = true }
            }
        }
        world.after(800...2000) { [self] in
            if !isAcknowledged, !isOver { publish(sent, id, attempt: attempt + 1) }
        }
    }
}

/// A message as its author meant it, so that checks need not decode it.
struct SentMessage {
    enum Kind: String { case draw, undo, redo, clear, turn, arrange, paper, remove, garbage }

    /// What a draw adds to its page.
    enum Entry: Equatable {
        case stroke
        case image
        case lasso(copies: Bool)
        case text
        /// Nothing.
        case pointer

        var isLasso: Bool { if case .lasso = self { true } else { false } }
    }

    let author: AuthorID
    let session: String?
    let number: Int64
    let kind: Kind
    var page: Int?
    var order: [Int] = []
    /// What a removal names.
    var indices: [UInt64] = []
    /// Its place among the shards of its stroke, from 0, and their number.
    var part = 0
    var parts = 1
    /// The x coordinates of its points.
    var ink: [Int] = []
    var entry = Entry.stroke
    /// Media time in milliseconds, and the encoder session that it belongs to.
    var time: Int64?
    var timeLine: Int64?
    /// Milliseconds from there to its last point.
    var reach: Int64 = 0
    let bytes: [UInt8]

    var summary: String {
        let shard = parts > 1 ? " \(part + 1)/\(parts)" : ""
        return "\(author)/\(session ?? "-") \(kind) \(number)\(shard) t=\(time.map(String.init) ?? "-")"
    }
}

struct MessageText {
    let number: Int64
    var time: Int64?
    /// Milliseconds from a point to the next; 0 for points without times.
    var step = 0
    var page: Int?
    var order: [Int] = []
    /// What a removal names.
    var indices: [UInt64] = []
    /// What a draw adds.
    var entry = SentMessage.Entry.stroke

    private var head: String {
        #"{"n":\#(number)"# + (time.map { #","t":\#($0)"# } ?? "") + (page.map { #","g":\#($0)"# } ?? "")
    }

    private var element: String {
        switch entry {
        case .stroke: ""
        case .pointer: #","e":7"#
        case .text: #","e":8,"l":32,"x":"\#(number)\n数 & \u05d0""#
        case .image: #","e":5,"i":"\#(String(repeating: "0a", count: 32))","p":\#(number % 3)"#
        case .lasso(let copies): #","e":6,"m":[1,0,0,1,\#(number),4]"# + (copies ? #","k":1"# : "")
        }
    }

    func command(_ kind: SentMessage.Kind) -> [UInt8] {
        let action = [.undo: 2, .redo: 3, .clear: 4, .turn: 5, .arrange: 6, .paper: 7, .remove: 8][kind] ?? 0
        let content =
            switch kind {
            case .arrange: ",\"v\":\(order)"
            case .remove: ",\"v\":\(indices)"
            case .paper: ",\"p\":\(number % 5)"
            default: ""
            }
        return Array("\(head),\"a\":\(action)\(content)}".utf8)
    }

    /// - Parameter order: as sent, from 0 or from 1.
    func stroke(_ ink: [Int], order: Int = 0, of parts: Int = 1) -> [UInt8] {
        let points = ink.map { index in
            #"{"x":\#(index),"y":\#(index % 7)"# + (step > 0 ? #","m":\#(index * step)}"# : "}")
        }.joined(separator: ",")
        let shard = parts > 1 ? #","s":\#(parts),"o":\#(order)"# : ""
        return Array(#"\#(head)\#(element)\#(shard),"d":[\#(points)]}"#.utf8)
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

    /// When it pauses, continues or restarts.
    var changes: [Moment] { stretches.map(\.from).filter { $0.nanoseconds > 0 } }
}
