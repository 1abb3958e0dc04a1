// The functions that a page calls: the picture of one board in one instance.
//
// Numbers go over as they are. Bytes go over in two buffers of the instance: the page asks for a place by `input`, writes
// there, and calls a function with the number of bytes, which copies what it keeps; a function that answers with bytes
// returns whether there are any, and they are at `output`, of `outputSize` bytes, until the next call. No function throws;
// what makes no sense shows nothing. A trap ends the instance: the page makes a new one.

internal import CWebShims
package import ClientCore
internal import PathGeometry
package import Raster
internal import Scene
internal import StrokeWire

package nonisolated(unsafe) var picture = Picture()
package nonisolated(unsafe) var buffers = Buffers()
package nonisolated(unsafe) var pixels: [UInt32] = []
/// The last answer of `neededImages`.
private nonisolated(unsafe) var needed: [PictureSource] = []

/// Begins anew, as a new instance does: for tests, which have one outside of a browser.
package func resetCore() {
    (picture, buffers, pixels, needed) = (Picture(), Buffers(), [], [])
    resetStudent()
    resetReplay()
}

/// The version of these functions: a page and a core of different ones do not go together.
@_expose(wasm, "version")
@_cdecl("lectern_version")
public func version() -> Int32 { 9 }

/// A place for so many bytes of the next call.
@_expose(wasm, "input")
@_cdecl("lectern_input")
public func input(_ size: Int32) -> UnsafeMutableRawPointer? { buffers.reserve(Int(size)).baseAddress }

/// Where the answer of the last call is.
@_expose(wasm, "output")
@_cdecl("lectern_output")
public func output() -> UnsafeRawPointer? { buffers.output.withUnsafeBytes { $0.baseAddress } }

/// The bytes of the answer of the last call.
@_expose(wasm, "outputSize")
@_cdecl("lectern_output_size")
public func outputSize() -> Int32 { Int32(buffers.output.count * 4) }

/// Shows the entries of a page of a board of `width` × `height` units, so many pixels wide.
///
/// Input: the length of the style's name as a byte, and the name; the number of colours, and each as `0xRRGGBB`, 32 bits each,
/// no colours for a room whose messages have `0xRRGGBB` themselves; then entries: the id as a float of 64 bits, the length of
/// the message in 32 bits, and the message as JSON.
@_expose(wasm, "show")
@_cdecl("lectern_show")
public func show(_ width: Double, _ height: Double, _ columns: Int32, _ size: Int32) {
    var reader = buffers.reader(Int(size))
    let style = reader.take(Int(reader.number(UInt8.self, or: 0)))
    let colours = (0..<min(reader.number(UInt32.self, or: 0), 256)).map { _ in reader.number(UInt32.self, or: 0) }
    let decoder = EntryDecoder(named: style, palette: Palette(colours: colours))
    var entries: [Picture.Entry] = []
    while !reader.isAtEnd {
        let id = UInt64(exactly: reader.number(Double.self, or: 0)) ?? 0
        entries.append(Picture.Entry(id: id, message: reader.countedBytes()))
    }
    guard width >= 1, height >= 1, width <= 65536, height <= 65536 else { return }
    picture.show(entries, width: width, height: height, pixels: Int(columns), decoder: decoder)
}

/// Adds an entry of the room. Input: its message as JSON.
@_expose(wasm, "insert")
@_cdecl("lectern_insert")
public func insert(_ id: Double, _ size: Int32) {
    var reader = buffers.reader(Int(size))
    picture.insert(Picture.Entry(id: UInt64(exactly: id) ?? 0, message: reader.take(Int(size))))
}

/// Removes an entry of the room.
@_expose(wasm, "remove")
@_cdecl("lectern_remove")
public func remove(_ id: Double) { picture.remove(UInt64(exactly: id) ?? 0) }

/// Shows entries above the room's; strokes that others draw lie between their lassos and the rest. Input: entries as in `show`,
/// bottom to top; one without a message is the one of that id that is shown already.
@_expose(wasm, "showLive")
@_cdecl("lectern_show_live")
public func showLive(_ size: Int32) {
    var reader = buffers.reader(Int(size))
    var entries: [Picture.Entry] = []
    while !reader.isAtEnd {
        let id = UInt64(exactly: reader.number(Double.self, or: 0)) ?? 0
        let message = reader.countedBytes()
        if !message.isEmpty {
            entries.append(Picture.Entry(id: id, message: message))
        } else if let entry = picture.liveEntry(id) {
            entries.append(entry)
        }
    }
    showOwn(entries)
}

/// Draws for so many milliseconds. Returns 1 when the picture is complete, 0 where it is to be called again.
@_expose(wasm, "draw")
@_cdecl("lectern_draw")
public func draw(_ milliseconds: Double) -> Int32 {
    let end = page_now() + milliseconds
    return picture.draw { page_now() < end } ? 1 : 0
}

/// The next pixels that are other than before: 1 where there are any. Output: x, y, width and height in pixels, 32 bits each,
/// and the pixels, with straight alpha: red, green, blue, alpha.
@_expose(wasm, "nextBox")
@_cdecl("lectern_next_box")
public func nextBox() -> Int32 { answer(picture.nextBox(&pixels)) }

/// Shows a part of the page on a canvas of `width` × `height` pixels: that which begins `x` and `y` pixels from its upper left
/// corner, at `scale` pixels a board unit. All of it on its canvas again where that is no part, as with the width 0. With `isDark`
/// above 0 colours are those of a dark board.
@_expose(wasm, "view")
@_cdecl("lectern_view")
public func view(_ x: Int32, _ y: Int32, _ width: Int32, _ height: Int32, _ scale: Double, _ isDark: Int32) {
    picture.isDark = isDark > 0
    picture.look(
        at: Picture.Viewport(x: Int(x), y: Int(y), width: Int(width), height: Int(height), scale: scale))
}

/// The canvas of the page is blank: all pixels are to be told anew.
@_expose(wasm, "presentAll")
@_cdecl("lectern_present_all")
public func presentAll() { picture.presentAll() }

/// A number of the picture: 0 the width of the canvas in pixels, 1 its height, 2 pixels a board unit, 3 how much of it
/// is there, 0 … 1; 4 whether it has the colours of a dark board, which a page that images cover has not.
@_expose(wasm, "measure")
@_cdecl("lectern_measure")
public func measure(_ number: Int32) -> Double {
    switch number {
    case 0: Double(picture.canvasSize.width)
    case 1: Double(picture.canvasSize.height)
    case 2: picture.canvasSize.scale
    case 4: picture.isShownDark ? 1 : 0
    default: picture.progress
    }
}

/// The images and texts that are seen: how many, bottom to top. Output for each: the width in pixels that it is needed with, the
/// width that is there, and the height of a text, 0 for an image; of an image its asset's id as a text, and its page; of a text
/// itself, its colour as `0xRRGGBB`, whether it reads from right to left, and width and height of its box in board units, floats
/// of 64 bits. Texts are as in records.
@_expose(wasm, "neededImages")
@_cdecl("lectern_needed_images")
public func neededImages() -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    let images = picture.neededImages()
    for image in images {
        for number in [image.width, image.knownWidth, image.height] { buffers.append(word: number) }
        switch image.source {
        case .asset(let source):
            buffers.append(source.asset.description)
            buffers.append(word: source.page)
        case .text(let text):
            buffers.append(text.text)
            buffers.append(
                word: Int(text.colour.red) << 16 | Int(text.colour.green) << 8 | Int(text.colour.blue))
            buffers.append(word: BoardText.isRightToLeft(text.text) ? 1 : 0)
            buffers.append(text.width)
            buffers.append(text.height)
        }
    }
    needed = images.map { $0.source }
    return Int32(images.count)
}

/// Gives the pixels of an image: input: 64 digits of the asset's id, and the pixels with straight alpha. For a text the page is
/// -1 less its number in the last answer of `neededImages`, from 0, and the input is its pixels alone.
@_expose(wasm, "setImage")
@_cdecl("lectern_set_image")
public func setImage(_ page: Int32, _ width: Int32, _ height: Int32, _ size: Int32) {
    var reader = buffers.reader(Int(size))
    if page < 0 {
        let number = -1 - Int(page)
        guard needed.indices.contains(number), case .text = needed[number] else { return }
        let pixels = ImagePixels(width: Int(width), height: Int(height), straight: reader.take(Int(size)))
        return picture.setPixels(needed[number], pixels)
    }
    guard let asset = AssetID(hexadecimal: String(decoding: reader.take(64), as: UTF8.self)) else { return }
    let pixels = ImagePixels(width: Int(width), height: Int(height), straight: reader.take(Int(size) - 64))
    picture.setPixels(.asset(ImageSource(asset: asset, page: Int(page))), pixels)
}

/// Finds the topmost ink of the room as near to a place as `radius`: 1 where there is any. Output: the index of its
/// operation and the media time at which that was drawn, floats of 64 bits.
@_expose(wasm, "strokeAt")
@_cdecl("lectern_stroke_at")
public func strokeAt(_ x: Double, _ y: Double, _ radius: Double) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    guard let found = picture.stroke(near: Point(x, y), radius: radius) else { return 0 }
    buffers.append(Double(found.id))
    buffers.append(milliseconds(found.time))
    return 1
}

/// Answers with a box of `pixels`, if there is one.
package func answer(_ box: PixelRectangle?) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    guard let box else { return 0 }
    for number in [box.x, box.y, box.width, box.height] { buffers.append(word: number) }
    buffers.output.append(contentsOf: pixels)
    return 1
}
