// The functions of a recorded lesson: replies of the gateway go in as bytes, what is to be fetched and what has changed comes out
// as records, see `Records.swift`, and the picture of the instance shows the board at the player's time.
//
// Each function but `replayRequest` answers with records; the first is the state: index, 64 bits; digest; width and height of the
// board, 64 bits each; the page that is shown; strokes on it; bits: 1 there is a board, 2 it is that of the player's time, 4 a
// reply is being added; the epoch, the media times at which it begins and ends, and how long until there is more to show, 64 bits
// each.

internal import CWebShims
internal import ClientCore
internal import StrokeWire
internal import Whiteboard

nonisolated(unsafe) var lesson = LessonPlayout()
nonisolated(unsafe) var isReplay = false

func resetReplay() { (lesson, isReplay) = (LessonPlayout(), false) }

/// Begins a lesson.
/// - Parameters:
///   - grows: 1 where strokes grow, 0 where they appear whole at their beginning.
///   - mostPoints: points that are kept.
///   - epoch: number of the encoder session on whose time line the player is; NaN for the last one.
@_expose(wasm, "replayBegin")
@_cdecl("lectern_replay_begin")
public func replayBegin(_ grows: Int32, _ mostPoints: Double, _ epoch: Double) {
    // No instance has memory for more.
    let weight = Int(min(max(mostPoints.isNaN ? 0 : mostPoints, 1), 1e7))
    lesson = LessonPlayout(epoch: Int64(exactly: epoch), grows: grows != 0, weightLimit: weight)
    let isDark = picture.isDark
    picture = Picture(prefixBytes: 32 << 20)
    picture.isDark = isDark
    isReplay = true
    answer([])
}

/// What is to be fetched next: 1 with a record of the kind `request`, 0 for nothing now.
@_expose(wasm, "replayRequest")
@_cdecl("lectern_replay_request")
public func replayRequest() -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    guard let request = lesson.request(at: now) else { return 0 }
    buffers.record(Record.request) {
        $0.append(milliseconds(request.from))
        $0.append(request.after.map { Double($0) } ?? .nan)
        $0.append(Double(request.limit))
        $0.append(request.epoch.map { Double($0) } ?? .nan)
        $0.append(request.incarnation ?? "")
    }
    return 1
}

/// A reply to the last request has come. Input: its body. `replayAdd` adds it.
@_expose(wasm, "replayReceive")
@_cdecl("lectern_replay_receive")
public func replayReceive(_ size: Int32) {
    var reader = buffers.reader(Int(size))
    answer(lesson.receive(reader.take(Int(size))))
}

/// Adds operations of the reply for so many milliseconds; to be called while the state has the bit 4. The last answer has a
/// record of the kind `lesson`.
@_expose(wasm, "replayAdd")
@_cdecl("lectern_replay_add")
public func replayAdd(_ milliseconds: Double) {
    let end = page_now() + milliseconds
    let wasAdding = lesson.isAdding
    answer(lesson.add { page_now() < end }, isLessonTold: wasAdding && !lesson.isAdding)
}

/// The room has another life now: all is to be fetched again. Input: why, one sentence.
@_expose(wasm, "replayRestart")
@_cdecl("lectern_replay_restart")
public func replayRestart(_ size: Int32) {
    var reader = buffers.reader(Int(size))
    answer(lesson.restart(String(decoding: reader.take(Int(size)), as: UTF8.self)))
}

/// Shows the board at the player's time.
@_expose(wasm, "replayLook")
@_cdecl("lectern_replay_look")
public func replayLook(_ player: Double) { answer(lesson.look(time(player))) }

/// Changes to the time line of another encoder session.
@_expose(wasm, "replayEpoch")
@_cdecl("lectern_replay_epoch")
public func replayEpoch(_ epoch: Double, _ player: Double) {
    answer(lesson.changeEpoch(Int64(exactly: epoch), time(player)))
}

/// Draws so many pixels across; 0 while the canvas is not seen.
@_expose(wasm, "replayResize")
@_cdecl("lectern_replay_resize")
public func replayResize(_ pixels: Int32) {
    answer([], isPainted: painter.resize(Int(max(pixels, 0)), of: &lesson, on: picture))
}

/// Draws what has changed, and answers with records.
private func answer(_ actions: [PlayoutAction], isPainted: Bool = false, isLessonTold: Bool = false) {
    let isPainted = painter.perform(actions, of: &lesson, on: picture) || isPainted
    var (hasMoved, hasOtherPages, hasOtherPointers) = (false, false, false)
    buffers.output.removeAll(keepingCapacity: true)
    buffers.record(Record.state) { $0.appendState(of: &lesson) }
    if isLessonTold {
        buffers.append(&lesson)
        buffers.append(visits: lesson.visits)
    }
    if isPainted, lesson.hasBoard { buffers.record(Record.painted) { _ in } }
    for action in actions {
        buffers.append(action, of: lesson.board)
        switch action {
        case .joined: (hasMoved, hasOtherPages) = (true, true)
        case .applied(_, let change, _):
            hasMoved = true
            hasOtherPages = hasOtherPages || change.hasOtherPages
            buffers.appendImages(of: change)
        case .pointersChanged: hasOtherPointers = true
        default: break
        }
    }
    if hasOtherPointers { buffers.appendPointers(of: lesson) }
    if hasOtherPages { buffers.appendPages(lesson.board.pages) }
    if hasMoved { buffers.appendIndex(lesson.board.index, lesson.board.digest, lesson.lastAuthor) }
}

extension Buffers {
    /// - Parameter lesson: it is not changed, nor copied to be read.
    fileprivate mutating func appendState(of lesson: inout LessonPlayout) {
        append(Double(lesson.board.index))
        append(lesson.board.digest)
        append(lesson.board.size.width)
        append(lesson.board.size.height)
        output.append(UInt32(lesson.board.pages.shown))
        output.append(UInt32(lesson.board.visible(on: lesson.board.pages.shown).count))
        output.append((lesson.hasBoard ? 1 : 0) | (lesson.isThere ? 2 : 0) | (lesson.isAdding ? 4 : 0))
        append(lesson.epoch.map { Double($0) } ?? .nan)
        let (from, to) = lesson.span
        append(milliseconds(from))
        append(milliseconds(to))
        append(milliseconds(lesson.wait))
    }

    fileprivate mutating func append(_ lesson: inout LessonPlayout) {
        record(Record.lesson) {
            $0.append(lesson.room)
            $0.append(Double(lesson.last))
            $0.output.append(UInt32(lesson.fetched))
            $0.output.append(UInt32(lesson.epochs.count))
            for epoch in lesson.epochs {
                $0.append(Double(epoch.number))
                $0.append(Double(epoch.indices.lowerBound))
                $0.append(Double(epoch.indices.upperBound))
                $0.append(milliseconds(epoch.from))
                $0.append(milliseconds(epoch.to))
            }
        }
    }
}
