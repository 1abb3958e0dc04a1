// The functions that a page calls: the picture of one board in one instance.
//
// Numbers go over as they are. Bytes go over in two buffers of the instance: the page asks for a place by `input`, writes
// there, and calls a function with the number of bytes, which copies what it keeps; a function that answers with bytes
// returns whether there are any, and they are at `output`, of `outputSize` bytes, until the next call. No function throws;
// what makes no sense shows nothing. A trap ends the instance: the page makes a new one.

internal import CWebShims
internal import ClientCore
internal import PathGeometry
internal import Raster
internal import Scene
internal import StrokeWire

nonisolated(unsafe) var picture = Picture()
nonisolated(unsafe) var buffers = Buffers()
private nonisolated(unsafe) var pixels: [UInt32] = []

/// Begins anew, as a new instance does: for tests, which have one outside of a browser.
package func resetCore() {
    (picture, buffers, pixels) = (Picture(), Buffers(), [])
    resetStudent()
    resetReplay()
    resetTeacher()
}

/// The version of these functions: a page and a core of different ones do not go together.
@_expose(wasm, "version")
@_cdecl("lectern_version")
public func version() -> Int32 { 3 }

/// A place for so many bytes of the next call.
@_expose(wasm, "input")
@_cdecl("lectern_input")
public func input(_ size: Int32) -> UnsafeMutableRawPointer? {
    buffers.reserve(Int(size)).baseAddress
}

/// Where the answer of the last call is.
@_expose(wasm, "output")
@_cdecl("lectern_output")
public func output() -> UnsafeRawPointer? {
    buffers.output.withUnsafeBytes { $0.baseAddress }
}

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
public func remove(_ id: Double) {
    picture.remove(UInt64(exactly: id) ?? 0)
}

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
public func nextBox() -> Int32 {
    answer(picture.nextBox(&pixels))
}

/// The canvas of the page is blank: all pixels are to be told anew.
@_expose(wasm, "presentAll")
@_cdecl("lectern_present_all")
public func presentAll() { picture.presentAll() }

/// How much of the picture is there, 0 … 1.
@_expose(wasm, "progress")
@_cdecl("lectern_progress")
public func progress() -> Double { picture.progress }

/// The size of the canvas in pixels, and pixels a board unit.
@_expose(wasm, "canvasWidth")
@_cdecl("lectern_canvas_width")
public func canvasWidth() -> Int32 { Int32(picture.size.width) }

@_expose(wasm, "canvasHeight")
@_cdecl("lectern_canvas_height")
public func canvasHeight() -> Int32 { Int32(picture.size.height) }

@_expose(wasm, "scale")
@_cdecl("lectern_scale")
public func scale() -> Double { picture.size.scale }

/// The images that are seen: how many. Output for each: 64 digits of the asset's id, its page, the width in pixels that it is
/// needed with, and the width that is there, 32 bits each.
@_expose(wasm, "neededImages")
@_cdecl("lectern_needed_images")
public func neededImages() -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    let images = picture.neededImages()
    for image in images {
        let digits = Array(image.source.asset.description.utf8)
        for place in stride(from: 0, to: digits.count, by: 4) {
            buffers.output.append(
                (0..<4).reduce(0) { $0 | UInt32(digits[place + $1]) << UInt32(8 * $1) })
        }
        for number in [image.source.page, image.width, image.knownWidth] { buffers.append(word: number) }
    }
    return Int32(images.count)
}

/// Gives the pixels of an image: input: 64 digits of the asset's id, and the pixels with straight alpha.
@_expose(wasm, "setImage")
@_cdecl("lectern_set_image")
public func setImage(_ page: Int32, _ width: Int32, _ height: Int32, _ size: Int32) {
    var reader = buffers.reader(Int(size))
    guard let asset = AssetID(hexadecimal: String(decoding: reader.take(64), as: UTF8.self)) else { return }
    let pixels = ImagePixels(width: Int(width), height: Int(height), straight: reader.take(Int(size) - 64))
    picture.setImage(ImageSource(asset: asset, page: Int(page)), pixels)
}

/// Selects what is inside of a path: 1 where there is anything. Input: x and y of the corners in board units, floats of 64 bits.
@_expose(wasm, "select")
@_cdecl("lectern_select")
public func select(_ size: Int32) -> Int32 {
    var reader = buffers.reader(Int(size))
    let points = (0..<max(Int(size), 0) / 16).map { _ in
        Point(reader.number(Double.self, or: 0), reader.number(Double.self, or: 0))
    }
    return picture.select(points) ? 1 : 0
}

/// The selection where an affine map puts it, as `nextBox`; the box may lie beside the canvas.
@_expose(wasm, "selection")
@_cdecl("lectern_selection")
public func selection(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double) -> Int32 {
    answer(picture.selection(AffineMap(a, b, c, d, e, f), &pixels))
}

/// The corners of the topmost image at a place of the board: 1 where there is one. Output: x and y of each, floats of 64 bits.
@_expose(wasm, "imageAt")
@_cdecl("lectern_image_at")
public func imageAt(_ x: Double, _ y: Double) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    guard let corners = picture.imageCorners(at: Point(x, y)) else { return 0 }
    for corner in corners {
        buffers.append(corner.x)
        buffers.append(corner.y)
    }
    return 1
}

private func answer(_ box: PixelRectangle?) -> Int32 {
    buffers.output.removeAll(keepingCapacity: true)
    guard let box else { return 0 }
    for number in [box.x, box.y, box.width, box.height] { buffers.append(word: number) }
    buffers.output.append(contentsOf: pixels)
    return 1
}
