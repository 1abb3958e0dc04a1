// The functions of a teacher's tools on the picture of an instance that has a board: selections, erasers of whole strokes, and what
// lies at a place. Students' pages load a core without them. Bytes go over as in `WebCore/WebCore.swift`.

internal import ClientCore
internal import PathGeometry
internal import Scene
internal import StrokeWire
internal import WebCore

/// Selects what is inside of a path: 1 where there is anything. Input: x and y of the corners in board units, floats of 64 bits.
@_expose(wasm, "select")
@_cdecl("lectern_select")
public func select(_ size: Int32) -> Int32 {
    var reader = buffers.reader(Int(size))
    return picture.select(reader.places()) ? 1 : 0
}

/// The selection where an affine map puts it, as `nextBox`; the box is one of the
/// whole page, in the scale of the canvas.
@_expose(wasm, "selection")
@_cdecl("lectern_selection")
public func selection(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double) -> Int32 {
    answer(picture.selection(AffineMap(a, b, c, d, e, f), &pixels))
}

/// Finds the topmost image (0) or text (1) at a place of the board, or the strokes and texts inside of the path that
/// was selected last (2): how many. Output of an image: x and y of its corners, its id, floats of 64 bits; whether it
/// is whole and upright; its asset's id, and its page. Of a text: its id, x, y, width and height of its box and the
/// height of a line in board units, floats of 64 bits; its colour as its message has it; and its words. Of what is
/// inside: how many more cannot be drawn anew; of each, from the bottom to the top, its id, a float of 64 bits, and the
/// message that draws it. Texts are as in records.
@_expose(wasm, "find")
@_cdecl("lectern_find")
public func find(_ kind: Int32, _ x: Double, _ y: Double) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    switch kind {
    case 0:
        guard let found = picture.image(at: Point(x, y)) else { return 0 }
        for corner in found.corners {
            buffers.append(corner.x)
            buffers.append(corner.y)
        }
        buffers.append(Double(found.id))
        buffers.append(word: found.isWhole ? 1 : 0)
        buffers.append(found.source.asset.description)
        buffers.append(word: found.source.page)
    case 1:
        guard let found = picture.text(at: Point(x, y)) else { return 0 }
        let box = [found.box.lower.x, found.box.lower.y, found.text.width, found.text.height]
        for number in [Double(found.id)] + box + [found.lineHeight] { buffers.append(number) }
        buffers.output.append(found.colour)
        buffers.append(found.text.text)
    case 2:
        let found = picture.selectedInk()
        buffers.append(word: found.cutCount)
        for (id, message) in zip(found.ids, found.messages) {
            buffers.append(Double(id))
            buffers.append(message)
        }
        return Int32(found.ids.count)
    default: return 0
    }
    return 1
}

/// Whether a text reads from right to left: 1, or 0. Input: its bytes.
@_expose(wasm, "isRightToLeft")
@_cdecl("lectern_is_right_to_left")
public func isRightToLeft(_ size: Int32) -> Int32 {
    var reader = buffers.reader(Int(size))
    return BoardText.isRightToLeft(String(decoding: reader.take(Int(size)), as: UTF8.self)) ? 1 : 0
}

/// Hides the strokes that an eraser of whole strokes touches: how many. Input: x and y of its path in board units,
/// floats of 64 bits. Output: their ids, floats of 64 bits. With the radius -1 it hides entries whose ids are the
/// input, and with -2 it shows them again, unless the room has removed them. With -3 it hides none: the input is an
/// author's name behind its length, a word, and ids; those of them that are the author's are the output.
@_expose(wasm, "lift")
@_cdecl("lectern_lift")
public func lift(_ radius: Double, _ size: Int32) -> Int32 {
    var reader = buffers.reader(Int(size))
    buffers.output.removeAll(keepingCapacity: true)
    guard radius < 0 else { return answer(picture.liftStrokes(under: reader.places(), radius: radius)) }
    let author = radius == -3 ? AuthorID(reader.text()) : nil
    var ids: [UInt64] = []
    while !reader.isAtEnd { ids.append(UInt64(exactly: reader.number(Double.self, or: 0)) ?? 0) }
    switch radius {
    case -3: return answer(author.map { ownEntries(ids, of: $0) } ?? [])
    case -2: picture.putBack(ids)
    default: picture.lift(ids)
    }
    return 0
}

private func answer(_ ids: [UInt64]) -> Int32 {
    for id in ids { buffers.append(Double(id)) }
    return Int32(ids.count)
}
