// The functions of a student's board: events of a gateway's stream go in as bytes, what changed comes out as records of words,
// and the picture of the instance shows it. No stroke crosses the border to be drawn.
//
// Each function that begins with `student` answers with records at `output`: a word with the kind, a word with the number of
// words that follow, and these. The first is the state. Texts are their length in bytes, and four bytes in a word; floats of 64
// bits are two words. Times are milliseconds; NaN is none. `Record` has the kinds, and what is in them.

internal import CWebShims
internal import ClientCore
internal import StrokeWire
internal import Whiteboard

private nonisolated(unsafe) var playout = BoardPlayout(followsPlayer: false)
private nonisolated(unsafe) var painter = PlayoutPainter()
private nonisolated(unsafe) var isStudent = false
/// When strokes being drawn are to be looked at again; nil for not before the next event.
private nonisolated(unsafe) var growth: Duration?

/// Kinds of records.
private enum Record {
    /// Index shown and received, 64 bits each; digest; width and height of the board, 64 bits each; the page that is drawn and
    /// the one that is shown; strokes on it; bits: 1 joined, 2 a redo may find something, 4 the page was cleared; the gate: 0 unknown, 1 open, 2 a video's; how many wait, how far the last is ahead, when to
    /// look, and when to look at strokes being drawn, 64 bits each; who drew last.
    static let state: UInt32 = 0
    /// Incarnation; style; colours; names of features.
    static let joined: UInt32 = 1
    /// Incarnation.
    static let incarnation: UInt32 = 2
    /// Index; page; what it refers to, 64 bits; whether it is late; digest; author; message.
    static let operation: UInt32 = 3
    /// Index; digest; author: shown now.
    static let index: UInt32 = 4
    /// The page shown; pages in their order; those out of sight.
    static let pages: UInt32 = 5
    /// Number of the stroke, 64 bits; points; author.
    static let wet: UInt32 = 6
    /// Author; name.
    static let named: UInt32 = 7
    /// Milliseconds, 64 bits; whether it counts.
    static let skew: UInt32 = 8
    /// As in the state.
    static let gate: UInt32 = 9
    /// Media time of the cohort's video.
    static let clock: UInt32 = 10
    /// Number, 64 bits; author; session, empty for none; incarnation.
    static let covered: UInt32 = 11
    /// Why: read the stream anew.
    static let restart: UInt32 = 12
    /// All of the page is drawn anew.
    static let painted: UInt32 = 13
    /// An image is shown: its asset.
    static let image: UInt32 = 14
}

/// Begins a student's board; on a board that is there, begins with another cohort.
/// - Parameters:
///   - followsPlayer: 1 where ink waits for the page's player.
///   - isHead: 1 for the cohort of teachers.
///   - maximumHold: milliseconds that an operation waits for a player that runs, or tells nothing.
@_expose(wasm, "studentBegin")
@_cdecl("lectern_student_begin")
public func studentBegin(_ followsPlayer: Int32, _ isHead: Int32, _ maximumHold: Double) {
    if isStudent {
        playout.changeFeed(isHead: isHead != 0)
    } else {
        playout = BoardPlayout(
            followsPlayer: followsPlayer != 0, isHead: isHead != 0, maximumHold: duration(milliseconds: maximumHold))
        isStudent = true
    }
    answer([.wetInkChanged], .nan)
}

/// An event arrived. Input: its data, JSON.
/// - Parameters:
///   - kind: 0 `board`, 1 `op`, 2 `wet`, 3 `mark`; others are ignored.
///   - player: the media time of the page's player.
@_expose(wasm, "studentReceive")
@_cdecl("lectern_student_receive")
public func studentReceive(_ kind: Int32, _ size: Int32, _ player: Double) {
    let events: [PlayoutEvent] = [.board, .operation, .wet, .mark]
    guard events.indices.contains(Int(kind)) else { return answer([], player) }
    var reader = buffers.reader(Int(size))
    let data = reader.take(Int(size))
    // A stroke may have more points, or its operation, to show with the next frame.
    if kind != 3 { growth = .zero }
    answer(playout.receive(events[Int(kind)], data, player: time(player), at: now), player)
}

/// Shows what the player has reached.
@_expose(wasm, "studentLook")
@_cdecl("lectern_student_look")
public func studentLook(_ player: Double) {
    if growth != nil { growth = .zero }
    answer(playout.look(time(player), at: now), player)
}

/// Lets strokes grow that are being drawn on the page that is seen: call it before a frame.
@_expose(wasm, "studentGrow")
@_cdecl("lectern_student_grow")
public func studentGrow(_ player: Double) {
    let (actions, wait) = playout.grow(time(player), on: painter.page(of: playout), at: now)
    growth = wait
    answer(actions, player)
}

/// Draws a page, whichever is shown; -1 for the shown one again.
@_expose(wasm, "studentView")
@_cdecl("lectern_student_view")
public func studentView(_ page: Int32) {
    let isOther = painter.view(page < 0 ? nil : Int(page), of: playout, on: &picture)
    if isOther { growth = .zero }
    answer([], .nan, isPainted: isOther, isIndexTold: isOther)
}

/// Draws so many pixels across; 0 while the canvas is not seen.
@_expose(wasm, "studentResize")
@_cdecl("lectern_student_resize")
public func studentResize(_ pixels: Int32) {
    let isPainted = painter.resize(Int(max(pixels, 0)), of: playout, on: &picture)
    answer([], .nan, isPainted: isPainted)
}

/// Names the session whose strokes the page shows itself while they are drawn. Input: its name; empty for none.
@_expose(wasm, "studentOwnSession")
@_cdecl("lectern_student_own_session")
public func studentOwnSession(_ size: Int32) {
    var reader = buffers.reader(Int(size))
    let name = reader.take(Int(size))
    playout.ownSession = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
}

/// Shows entries above the board, or above the entries of a page without a student.
func showOwn(_ entries: [Picture.Entry]) {
    if isStudent { painter.showOwn(entries, of: playout, on: &picture) } else { picture.showLive(entries) }
}

private var now: Duration { duration(milliseconds: page_now()) }

private func duration(milliseconds: Double) -> Duration {
    // A day and more is never waited for.
    .microseconds(Int64((min(max(milliseconds, 0), 1e12) * 1000).rounded()))
}

private func time(_ milliseconds: Double) -> MediaTime? {
    milliseconds.isNaN ? nil : MediaTime(milliseconds: min(max(milliseconds, -0x1p53), 0x1p53))
}

private func milliseconds(_ time: MediaTime?) -> Double { time.map { Double($0.microseconds) / 1000 } ?? .nan }

private func milliseconds(_ duration: Duration?) -> Double {
    guard let (seconds, fraction) = duration?.components else { return .nan }
    return Double(seconds) * 1000 + Double(fraction / 1_000_000_000) / 1_000_000
}

/// Draws what has changed, and answers with records.
private func answer(
    _ actions: [PlayoutAction], _ player: Double, isPainted: Bool = false, isIndexTold: Bool = false
) {
    let isPainted = painter.perform(actions, of: playout, on: &picture) || isPainted
    var hasJoined = false
    buffers.output.removeAll(keepingCapacity: true)
    buffers.record(Record.state) { $0.appendState(player) }
    if isPainted { buffers.record(Record.painted) { _ in } }
    for action in actions {
        buffers.append(action)
        switch action {
        case .joined: hasJoined = true
        case .applied(let operation, let change, _):
            for stroke in change.shown where stroke.kind == .image { buffers.append(image: stroke) }
            if change.hasOtherPages { buffers.appendPages() }
            buffers.appendIndex(operation.index, operation.digest ?? playout.board.digest, operation.author)
        default: break
        }
    }
    if hasJoined { buffers.appendPages() }
    if hasJoined || isIndexTold {
        buffers.appendIndex(playout.board.index, playout.board.digest, playout.lastAuthor)
    }
}

extension Buffers {
    fileprivate mutating func appendState(_ player: Double) {
        let board = playout.board
        let page = painter.page(of: playout)
        append(Double(board.index))
        append(Double(playout.received))
        append(board.digest)
        append(board.size.width)
        append(board.size.height)
        output.append(UInt32(page))
        output.append(UInt32(board.pages.shown))
        output.append(UInt32(board.visible(on: page).count))
        output.append(
            (playout.isJoined ? 1 : 0) | (board.undoneCount(on: page) > 0 ? 2 : 0) | (board.isCleared(on: page) ? 4 : 0)
        )
        output.append(number(playout.gate))
        output.append(UInt32(playout.heldCount))
        append(milliseconds(playout.lead(of: time(player))))
        append(milliseconds(playout.wait(time(player))))
        append(milliseconds(growth))
        append(playout.lastAuthor?.text ?? "")
    }

    private func number(_ gate: GateState?) -> UInt32 {
        switch gate {
        case nil: 0
        case .open: 1
        case .video: 2
        }
    }

    fileprivate mutating func appendIndex(_ index: UInt64, _ digest: BoardDigest, _ author: AuthorID?) {
        record(Record.index) {
            $0.append(Double(index))
            $0.append(digest)
            $0.append(author?.text ?? "")
        }
    }

    fileprivate mutating func appendPages() {
        let pages = playout.board.pages
        record(Record.pages) {
            $0.output.append(UInt32(pages.shown))
            $0.append(pages.order)
            $0.append(pages.hidden)
        }
    }

    fileprivate mutating func append(_ action: PlayoutAction) {
        switch action {
        case .joined:
            record(Record.joined) {
                $0.append(playout.room)
                $0.append(playout.style ?? "")
                $0.append(playout.palette.colours.map { Int($0) })
                let names = playout.features.names
                $0.output.append(UInt32(names.count))
                for name in names { $0.append(name) }
            }
        case .incarnation(let room): record(Record.incarnation) { $0.append(room) }
        case .applied(let operation, _, _):
            record(Record.operation) {
                $0.append(Double(operation.index))
                $0.output.append(UInt32(operation.page))
                $0.append(operation.reference.map { Double($0) } ?? .nan)
                $0.output.append(operation.isLate ? 1 : 0)
                $0.append(operation.digest ?? playout.board.digest)
                $0.append(operation.author.text)
                $0.append(operation.bytes)
            }
        case .grew(let author, let number, let points):
            record(Record.wet) {
                $0.append(Double(number))
                $0.output.append(UInt32(points))
                $0.append(author.text)
            }
        case .named(let author, let name):
            record(Record.named) {
                $0.append(author.text)
                $0.append(name)
            }
        case .skew(let skew, let isCounted):
            record(Record.skew) {
                $0.append(milliseconds(skew))
                $0.output.append(isCounted ? 1 : 0)
            }
        case .gate(let gate): record(Record.gate) { $0.output.append(gate == .open ? 1 : 2) }
        case .clock(let video): record(Record.clock) { $0.append(milliseconds(video)) }
        case .covered(let covered, let room):
            record(Record.covered) {
                $0.append(Double(covered.number))
                $0.append(covered.author.text)
                $0.append(covered.session ?? "")
                $0.append(room)
            }
        case .restart(let why): record(Record.restart) { $0.append(why) }
        case .unveiled, .wetInkChanged: break
        }
    }

    fileprivate mutating func append(image stroke: Stroke) {
        guard case .image(let asset, _)? = stroke.decoded()?.header.content else { return }
        record(Record.image) { $0.append(asset.description) }
    }
}
