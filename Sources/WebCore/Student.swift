// The functions of a student's board: events of a gateway's stream go in as bytes, what changed comes out as records of words,
// and the picture of the instance shows it. No stroke crosses the border to be drawn.
//
// Each function that begins with `student` answers with records, see `Records.swift`; the first is the state.

internal import CWebShims
internal import ClientCore
package import StrokeWire
internal import Whiteboard

nonisolated(unsafe) var playout = BoardPlayout(followsPlayer: false)
nonisolated(unsafe) var isStudent = false
/// When strokes being drawn are to be looked at again; nil for not before the next event.
private nonisolated(unsafe) var growth: Duration?

func resetStudent() {
    (playout, painter, isStudent, growth) = (BoardPlayout(followsPlayer: false), PlayoutPainter(), false, nil)
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
    answer([.wetInkChanged, .pointersChanged], .nan)
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
    let actions = playout.look(time(player), at: now)
    if growth != nil || playout.hasPointers { growth = .zero }
    answer(actions, player)
}

/// Lets strokes grow that are being drawn on the page that is seen: call it before a frame.
@_expose(wasm, "studentGrow")
@_cdecl("lectern_student_grow")
public func studentGrow(_ player: Double) {
    let (actions, wait) = playout.grow(time(player), on: painter.page(of: playout), at: now)
    growth = wait
    answer(actions, player)
}

/// Shows the pointer of the person at this board at once; as `studentGrow` before frames. Input: 1 where it points, 0 where it is
/// lifted, as a word; x and y in board units; the colour as in messages, a word; the width of the line; the length of the
/// author's name as a word, and the name. Sizes and places are floats of 64 bits.
@_expose(wasm, "studentPoint")
@_cdecl("lectern_student_point")
public func studentPoint(_ size: Int32) {
    var reader = buffers.reader(Int(size))
    let isDown = reader.word() == 1
    let (x, y) = (reader.number(Double.self, or: .nan), reader.number(Double.self, or: .nan))
    let colour = reader.word()
    let width = reader.number(Double.self, or: 1)
    guard let author = AuthorID(String(decoding: reader.countedBytes(), as: UTF8.self)) else { return answer([], .nan) }
    let isPlace = isDown && x.magnitude <= 65536 && y.magnitude <= 65536
    playout.point(
        to: isPlace ? (x, y) : nil, by: author, colour: colour, width: min(max(width, 0), 512),
        on: painter.page(of: playout), at: now)
    growth = .zero
    answer([], .nan)
}

/// Draws a page, whichever is shown; -1 for the shown one again.
@_expose(wasm, "studentView")
@_cdecl("lectern_student_view")
public func studentView(_ page: Int32) {
    let isOther = painter.view(page < 0 ? nil : Int(page), of: &playout, on: picture)
    if isOther { growth = .zero }
    answer([], .nan, isPainted: isOther, isIndexTold: isOther)
}

/// Draws so many pixels across; 0 while the canvas is not seen.
@_expose(wasm, "studentResize")
@_cdecl("lectern_student_resize")
public func studentResize(_ pixels: Int32) {
    let isPainted = painter.resize(Int(max(pixels, 0)), of: &playout, on: picture)
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

/// Those of some entries of the page that is drawn that are an author's.
package func ownEntries(_ ids: [UInt64], of author: AuthorID) -> [UInt64] {
    playout.board.entries(ids, of: author, on: painter.page(of: playout))
}

/// Draws what has changed, and answers with records.
private func answer(
    _ actions: [PlayoutAction], _ player: Double, isPainted: Bool = false, isIndexTold: Bool = false
) {
    let isPainted = painter.perform(actions, of: &playout, on: picture) || isPainted
    var (hasJoined, hasOtherPointers) = (false, false)
    buffers.output.removeAll(keepingCapacity: true)
    buffers.record(Record.state) { $0.appendState(of: &playout, player) }
    if isPainted { buffers.record(Record.painted) { _ in } }
    for action in actions {
        buffers.append(action, of: playout.board)
        switch action {
        case .joined:
            hasJoined = true
            buffers.appendJoined()
        case .pointersChanged: hasOtherPointers = true
        case .applied(let operation, let change, _):
            buffers.appendImages(of: change)
            if change.hasOtherPages { buffers.appendPages(playout.board.pages) }
            buffers.appendIndex(operation.index, operation.digest ?? playout.board.digest, operation.author)
        default: break
        }
    }
    if hasOtherPointers { buffers.appendPointers(of: playout) }
    if hasJoined {
        buffers.appendPages(playout.board.pages)
        buffers.append(visits: playout.board.firstStrokes)
    }
    if hasJoined || isIndexTold {
        buffers.appendIndex(playout.board.index, playout.board.digest, playout.lastAuthor)
    }
}

extension StudentBoard {
    /// The first stroke that is seen on each page that has one, with the time of its message.
    fileprivate var firstStrokes: [(index: UInt64, page: Int, time: MediaTime?)] {
        let first = (pages.order + pages.hidden).compactMap { visible(on: $0).first }
        return first.map { stroke in
            let time = stroke.decoded()?.header.time
            return (stroke.index, stroke.page, time.map { MediaTime(milliseconds: $0) })
        }
    }
}

extension Buffers {
    /// - Parameter playout: it is not changed, nor copied to be read.
    fileprivate mutating func appendState(of playout: inout BoardPlayout, _ player: Double) {
        let page = painter.page(of: playout)
        append(Double(playout.board.index))
        append(Double(playout.received))
        append(playout.board.digest)
        append(playout.board.size.width)
        append(playout.board.size.height)
        output.append(UInt32(page))
        output.append(UInt32(playout.board.pages.shown))
        output.append(UInt32(playout.board.visible(on: page).count))
        output.append(
            (playout.isJoined ? 1 : 0) | (playout.board.undoneCount(on: page) > 0 ? 2 : 0)
                | (playout.board.isCleared(on: page) ? 4 : 0) | (playout.board.hasRemoved(on: page) ? 8 : 0)
        )
        output.append(number(playout.gate))
        output.append(UInt32(playout.heldCount))
        append(milliseconds(playout.lead(of: time(player))))
        append(milliseconds(playout.wait(time(player))))
        append(milliseconds(growth))
    }

    private func number(_ gate: GateState?) -> UInt32 {
        switch gate {
        case nil: 0
        case .open: 1
        case .video: 2
        }
    }

    fileprivate mutating func appendJoined() {
        record(Record.joined) {
            $0.append(playout.room)
            $0.append(playout.style ?? "")
            $0.append(playout.palette.colours.map { Int($0) })
            let names = playout.features.names
            $0.output.append(UInt32(names.count))
            for name in names { $0.append(name) }
        }
    }
}
