// The functions that a teacher's page calls: the session of one teacher in one instance, which draws no picture.
//
// Bytes go over as in `WebCore/WebCore.swift`: the page writes them to `input`, the core copies what it keeps; answers
// are at `output` until the next call. In both, a text or a body is its length in 32 bits and its bytes, in answers
// padded to four; times are milliseconds of one clock of the page; a number that is not there is NaN. No function
// throws.

internal import ClientCore
internal import StrokeWire
internal import WebCore

nonisolated(unsafe) var teacher = DrawingSession(author: "", startTime: 0, seed: 0)
private nonisolated(unsafe) var toldLive: Set<UInt64> = []

/// Begins anew: for tests.
package func resetTeacher() { (teacher, toldLive) = (DrawingSession(author: "", startTime: 0, seed: 0), []) }

/// Tells the session of something. Returns 1, or what is said below; -1 for a call that is none.
///
/// | call | input |
/// |---|---|
/// | 0 begin | UTC milliseconds at the time 0, 64 random bits as two words, the author, the name |
/// | 1 right | whether this page has the right to write |
/// | 2 loaded | whether the store could be read, whether the page wrote here, records: session, number, record |
/// | 3 stored | id, whether it is kept |
/// | 4 answered | id, body |
/// | 5 failed | id, status, milliseconds of `Retry-After`, code, message |
/// | 6 looked | whether the author writes, whether it is muted: 0, 1, or 2 for not known |
/// | 7 take over | |
/// | 8 muted | whether the author is |
/// | 9 joined | the room's incarnation |
/// | 10 board | its width, height and index |
/// | 11 pages | the one shown, how many are in the order and they, how many are hidden and they |
/// | 12 shown | an operation of this author as JSON |
/// | 13 covered | number, session |
/// | 14 command | see `command`; returns 0 where it was not taken |
/// | 15 preview | whether there is one, how many corners, x and y of each |
/// | 16 retry | |
/// | 17 leave | returns 1 where a post is to go out at once, in the output as by `teacherNext`; else 0 |
/// | 18 fingers | whether fingers draw, too |
/// | 19 even | whether lines keep to multiples of 15° and boxes to squares |
///
/// Numbers of operations, sizes, places and times are floats of 64 bits, all others words of 32 bits.
@_expose(wasm, "teacher")
@_cdecl("lectern_teacher")
public func tellTeacher(_ call: Int32, _ now: Double, _ size: Int32) -> Int32 {
    var reader = buffers.reader(Int(size))
    let now = duration(milliseconds: now)
    switch call {
    case 0:
        let startTime = reader.number(Double.self, or: 0)
        let seed = UInt64(reader.word()) << 32 | UInt64(reader.word())
        let author = reader.text()
        teacher = DrawingSession(author: author, name: reader.text(), startTime: startTime, seed: seed)
        toldLive = []
    case 1: teacher.rightChanged(reader.word() == 1, at: now)
    case 2:
        let (isRead, wroteHere) = (reader.word() == 1, reader.word() == 1)
        var records: [StoredOperation] = []
        while !reader.isAtEnd {
            let session = reader.text()
            let key = OperationKey(session: session, number: reader.integer())
            records.append(StoredOperation(key, bytes: reader.countedBytes()))
        }
        teacher.loaded(isRead ? records : nil, wroteHere: wroteHere, at: now)
    case 3: teacher.stored(reader.signedWord(), isKept: reader.word() == 1, at: now)
    case 4: teacher.answered(reader.signedWord(), with: reader.countedBytes(), at: now)
    case 5:
        let (id, status) = (reader.signedWord(), reader.signedWord())
        let wait = reader.number(Double.self, or: .nan)
        let code = reader.text()
        let failure = GatewayFailure(
            status: status, code: code, message: reader.text(),
            retryAfter: wait.isFinite ? duration(milliseconds: wait) : nil)
        teacher.failed(id, failure, at: now)
    case 6:
        let isWriting = reader.word()
        teacher.looked(isWriting: known(isWriting), isMuted: known(reader.word()), at: now)
    case 7: teacher.takeOver(at: now)
    case 8: teacher.noteMuted(reader.word() == 1, at: now)
    case 9: teacher.joined(incarnation: reader.text())
    case 10:
        let (width, height) = (reader.number(Double.self, or: 0), reader.number(Double.self, or: 0))
        if width >= 1, height >= 1 { teacher.boardChanged(width: width, height: height) }
        teacher.boardChanged(index: UInt64(exactly: reader.number(Double.self, or: 0)) ?? 0)
    case 11:
        let shown = reader.signedWord()
        let order = reader.pages()
        if let pages = BoardPages(shown: shown, order: order, hidden: reader.pages()) {
            teacher.boardChanged(pages: pages)
        }
    case 12: teacher.boardShows(reader.countedBytes(), at: now)
    case 13:
        let number = reader.integer()
        teacher.covered(session: reader.text(), number: number)
    case 14: return command(&reader, at: now)
    case 15: teacher.previewCut(reader.word() == 1 ? reader.corners() : nil)
    case 16: teacher.retry()
    case 17:
        guard let post = teacher.leave() else { return 0 }
        answer(post)
    case 18: teacher.drawsWithFingers = reader.word() == 1
    case 19: teacher.isEven = reader.word() == 1
    default: return -1
    }
    return 1
}

/// Publishes a command. Input: the media time, the action as in messages, or 7 for an image and 8 for a lasso; then of
/// a turn the page, of an arrange how many pages and they, of an image its page, the 64 digits of its asset, x, y,
/// width and height, of a lasso the page or 1000 for the one that is seen, whether the original stays, whether there is
/// a map, its six numbers, how many corners, x and y of each; 9 for a paper: the page or 1000 for the one that is seen,
/// the number of the ruling, and the distance of its lines; 10 for a removal: how many entries and their indices,
/// floats of 64 bits; 11 for a text: its colour, the height of a line, x, y, width and height of its box, and what it
/// says; 12 for a slide as paper: as an image; 13 for entries that are removed and drawn anew: how many and their
/// indices as of a removal, and messages that draw, each as a text.
private func command(_ reader: inout InputReader, at now: Duration) -> Int32 {
    let time = mediaTime(reader.number(Double.self, or: .nan))
    let command: DrawingCommand
    switch reader.word() {
    case 2: command = .undo
    case 3: command = .redo
    case 4: command = .clear
    case 5:
        let page = reader.signedWord()
        guard PageNumber.range.contains(page) else { return 0 }
        command = .turn(page)
    case 6:
        let order = reader.pages()
        guard PageNumber.isOrder(order) else { return 0 }
        command = .arrange(order)
    case 7:
        guard let (source, box) = image(&reader) else { return 0 }
        command = .image(source, x: box[0], y: box[1], width: box[2], height: box[3])
    case 8:
        let page = reader.signedWord()
        let (keepsOriginal, hasMap) = (reader.word() == 1, reader.word() == 1)
        let numbers = (0..<6).map { _ in reader.number(Double.self, or: 0) }
        let map = LassoMap(
            a: numbers[0], b: numbers[1], c: numbers[2], d: numbers[3], e: numbers[4], f: numbers[5])
        command = .lasso(
            reader.corners(), hasMap ? map : nil, keepsOriginal: keepsOriginal,
            page: PageNumber.range.contains(page) ? page : nil)
    case 9:
        let (page, number) = (reader.signedWord(), reader.word())
        let distance = reader.number(Double.self, or: Paper.standardDistance)
        guard let ruling = UInt8(exactly: number).flatMap(Paper.Ruling.init), Paper.distances.contains(distance) else {
            return 0
        }
        command = .paper(
            .ruled(ruling, distance: distance), page: PageNumber.range.contains(page) ? page : nil)
    case 10:
        guard let indices = removed(&reader) else { return 0 }
        command = .remove(indices)
    case 11:
        let colour = reader.word()
        let numbers = (0..<5).map { _ in reader.number(Double.self, or: 0) }
        let text = reader.text()
        guard BoardText.isValid(text), BoardText.lineHeights.contains(numbers[0]),
            numbers[1...].allSatisfy({ $0.magnitude <= 65536 }), numbers[3] > 0, numbers[4] > 0
        else { return 0 }
        command = .text(
            text, colour: colour, lineHeight: numbers[0], x: numbers[1], y: numbers[2], width: numbers[3],
            height: numbers[4])
    case 12:
        guard let (source, box) = image(&reader), box.allSatisfy({ $0.magnitude <= 65536 }),
            AssetID.pages.contains(source.page)
        else { return 0 }
        command = .slide(source, x: box[0], y: box[1], width: box[2], height: box[3])
    case 13: return redraw(&reader, time: time, at: now)
    default: return 0
    }
    return teacher.perform(command, time: time, at: now) ? 1 : 0
}

/// A page of an asset, and the x, y, width and height of its box.
private func image(_ reader: inout InputReader) -> (ImageSource, box: [Double])? {
    let page = reader.signedWord()
    guard let asset = AssetID(hexadecimal: String(decoding: reader.take(64), as: UTF8.self)) else { return nil }
    let box = (0..<4).map { _ in reader.number(Double.self, or: 0) }
    return (ImageSource(asset: asset, page: page), box)
}

/// The indices of a removal; nil where they are none.
private func removed(_ reader: inout InputReader) -> [UInt64]? {
    let count = reader.signedWord()
    guard (1...StrokeMessage.removalBound).contains(count) else { return nil }
    let indices = (0..<count).map { _ in UInt64(exactly: reader.number(Double.self, or: 0)) ?? 0 }
    return indices.contains(0) || Set(indices).count < count ? nil : indices
}

private func redraw(_ reader: inout InputReader, time: Int64?, at now: Duration) -> Int32 {
    guard let indices = removed(&reader) else { return 0 }
    var strokes: [(header: StrokeMessage, points: [StrokePoint])] = []
    while !reader.isAtEnd {
        var points: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: reader.countedBytes(), limits: .redrawn, points: &points),
            header.action == .draw, header.element.isStroke || header.element == .text, !header.isSharded,
            strokes.count < StrokeMessage.removalBound
        else { return 0 }
        strokes.append((header, points))
    }
    return teacher.redraw(indices, as: strokes, time: time, at: now) ? 1 : 0
}

extension WireLimits {
    /// Of what the page has of its own board.
    fileprivate static let redrawn = WireLimits(
        messageBytes: .max, shards: Int(Int32.max), points: .max, colours: .rgb, features: [.pens, .text])
}

/// The next thing for the page to do; it calls until that is to wait. Returns what, with an output:
///
/// | step | output |
/// |---|---|
/// | 0 wait | until when |
/// | 1 writer | the state: 0 waiting, 1 writer, 2 elsewhere, 3 superseded |
/// | 2 muted | whether |
/// | 3 outbox | how many wait, whether they are kept, whether it is full |
/// | 4 sending | 0 live, 1 waiting, 2 refused, the time of the next try, code, message |
/// | 5 applied | number, index |
/// | 6 rejected | number, code, message, the operation as JSON |
/// | 7 drawing | whether the pen is down |
/// | 8 live | call `teacherLive` |
/// | 9 pages | as in call 11 of `teacher`, and a number for a new page, 1000 where there is none |
/// | 10 load | read the store, and call 2 |
/// | 11 store | id, how many records, session, number and record of each, how many keys are deleted, session and number of each |
/// | 12 note | whether the author writes here |
/// | 13 post | id, 0 strokes or 1 wet, whether it outlives the page, session, body |
/// | 14 look | read `api/rooms/ROOM`, and call 6 |
@_expose(wasm, "teacherNext")
@_cdecl("lectern_teacher_next")
public func teacherNext(_ now: Double) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    switch teacher.next(at: duration(milliseconds: now)) {
    case .wait(let time):
        buffers.append(milliseconds(time))
        return 0
    case .event(let event): return answer(event)
    case .load: return 10
    case .store(let write):
        buffers.append(word: write.id)
        buffers.append(word: write.records.count)
        for record in write.records {
            buffers.append(record.key)
            buffers.append(record.bytes)
        }
        buffers.append(word: write.deleted.count)
        for key in write.deleted { buffers.append(key) }
        return 11
    case .note(let writesHere):
        buffers.append(word: writesHere ? 1 : 0)
        return 12
    case .post(let post):
        answer(post)
        return 13
    case .look: return 14
    }
}

private func answer(_ event: DrawingEvent) -> Int32 {
    switch event {
    case .writer(let state):
        buffers.append(word: Int(state.rawValue))
        return 1
    case .muted(let isMuted):
        buffers.append(word: isMuted ? 1 : 0)
        return 2
    case .outbox(let waiting, let isKept, let isFull):
        for number in [waiting, isKept ? 1 : 0, isFull ? 1 : 0] { buffers.append(word: number) }
        return 3
    case .sending(let state):
        switch state {
        case .live:
            buffers.append(word: 0)
            buffers.append(.nan)
        case .waiting(let failure, let until), .refused(let failure, let until):
            buffers.append(word: failure.isTransient ? 1 : 2)
            buffers.append(milliseconds(until))
            buffers.append(failure.code)
            buffers.append(failure.message)
        }
        return 4
    case .applied(let number, let index):
        buffers.append(Double(number))
        buffers.append(Double(index))
        return 5
    case .rejected(let number, let code, let message, let operation):
        buffers.append(Double(number))
        buffers.append(code)
        buffers.append(message)
        buffers.append(operation)
        return 6
    case .drawing(let isDrawing):
        buffers.append(word: isDrawing ? 1 : 0)
        return 7
    case .live: return 8
    case .pages(let pages):
        buffers.append(pages)
        return 9
    }
}

private func answer(_ post: DrawingPost) {
    buffers.output.removeAll(keepingCapacity: true)
    for number in [post.id, Int(post.target.rawValue), post.outlivesShell ? 1 : 0] { buffers.append(word: number) }
    buffers.append(post.session)
    buffers.append(post.body)
}

/// What is shown above the room's entries, but for the stroke under the pen. Output: the session, the page that is
/// seen, the pages as `teacherNext` tells them, how many entries, the id of each as a float of 64 bits, and its
/// message, which is empty where the page was told it before.
@_expose(wasm, "teacherLive")
@_cdecl("lectern_teacher_live")
public func teacherLive() {
    buffers.output.removeAll(keepingCapacity: true)
    buffers.appendLive(of: &teacher)
}

private func known(_ word: UInt32) -> Bool? { word > 1 ? nil : word == 1 }

func mediaTime(_ milliseconds: Double) -> Int64? {
    milliseconds.magnitude < 0x1p62 ? Int64(milliseconds) : nil
}

extension InputReader {
    mutating func text() -> String { String(decoding: countedBytes(), as: UTF8.self) }
    fileprivate mutating func integer() -> Int64 { Int64(exactly: number(Double.self, or: 0)) ?? 0 }

    fileprivate mutating func pages() -> [Int] {
        (0..<min(word(), 1000)).map { _ in Int(word() & 0xffff) }
    }

    fileprivate mutating func corners() -> [StrokePoint] {
        (0..<min(word(), 4096)).map { _ in
            StrokePoint(x: number(Double.self, or: 0), y: number(Double.self, or: 0))
        }
    }
}

extension Buffers {
    /// - Parameter teacher: it is not changed, nor copied to be read.
    fileprivate mutating func appendLive(of teacher: inout DrawingSession) {
        append(teacher.session)
        append(word: teacher.page)
        append(teacher.pages)
        let live = teacher.live(without: toldLive)
        append(word: live.count)
        for entry in live {
            append(Double(entry.id))
            append(entry.message)
        }
        toldLive = Set(live.map { $0.id })
    }

    fileprivate mutating func append(_ key: OperationKey) {
        append(key.session)
        append(Double(key.number))
    }

    fileprivate mutating func append(_ pages: BoardPages) {
        append(word: pages.shown)
        append(pages.order)
        append(pages.hidden)
        append(word: pages.unused ?? 1000)
    }
}
