// The function that a teacher's page calls for each event of a pointer. Bytes go over as in `WebCore/WebCore.swift`.

internal import ClientCore
internal import StrokeWire
internal import WebCore

/// A pointer on the board. Returns what has become of its stroke: 1 given up, 2 begun, 4 ended, 8 new points, added up, and 16
/// where it erases, in the order of the numbers; 32 where two fingers have tapped, 64 where three have; 128
/// where it has become an even shape, and then 256 times its element.
///
/// - Parameters:
///   - phase: 0 down, 1 moved, 2 up, 3 cancelled, 4 above the board, where the tool points without touching, 5 at
///     rest for half a second.
///   - kind: 0 mouse, 1 touch, 2 pen.
///   - flags: when down, 1 for a primary pointer, 2 for the eraser end, 4 where what it draws is not for the room, added up;
///     when moved, how many of the samples are not predicted.
///   - size: input: samples of six floats of 64 bits, x, y, time, force, altitude, azimuth; when down and above the
///     board, behind the one sample the media time, and element, colour and width of the tool; no sample where the
///     board is left; at rest, behind the sample the board units within which it rests.
///
/// Output, where there are points: the index of the first new point, how many there are from it on, how many are predicted; of
/// each x, y, force, altitude, azimuth and milliseconds.
@_expose(wasm, "pen")
@_cdecl("lectern_pen")
public func movePen(
    _ phase: Int32, _ id: Int32, _ kind: Int32, _ flags: Int32, _ now: Double, _ size: Int32
) -> Int32 {
    var reader = buffers.reader(Int(size))
    let kind = Pen.Kind(rawValue: UInt8(truncatingIfNeeded: kind)) ?? .mouse
    let (id, time) = (Int(id), duration(milliseconds: now))
    var change: Pen.Change
    var element: Int32 = -1
    switch phase {
    case 0:
        let sample = reader.sample()
        let mediaTime = takeTool(&reader)
        let pointer = Pen.Pointer(id: id, kind: kind, isPrimary: flags & 1 != 0, isEraser: flags & 2 != 0)
        change = teacher.penDown(pointer, sample, isGesture: flags & 4 != 0, time: mediaTime)
    case 1:
        var samples: [Pen.Sample] = []
        while !reader.isAtEnd { samples.append(reader.sample()) }
        let count = min(max(Int(flags), 0), samples.count)
        change = teacher.penMoved(
            id, kind: kind, Array(samples[..<count]), predicted: Array(samples[count...]), at: time)
    case 2: change = teacher.penUp(id, time: reader.isAtEnd ? .infinity : reader.sample().time, at: time)
    case 4:
        change = Pen.Change()
        guard !reader.isAtEnd else {
            teacher.hover(nil, time: nil, at: time)
            break
        }
        let sample = reader.sample()
        let mediaTime = takeTool(&reader)
        teacher.hover(sample, time: mediaTime, at: time)
    case 5:
        change = Pen.Change()
        let restedAt = reader.isAtEnd ? Double.nan : reader.sample().time
        let reach = reader.number(Double.self, or: 4)
        if let rested = teacher.penRested(id, time: restedAt, within: reach, at: time) {
            change = rested.change
            element = Int32(rested.element.rawValue)
        }
    default: change = teacher.penCancelled(id)
    }
    let first = change.hasBegun ? 0 : change.first
    buffers.output.removeAll(keepingCapacity: true)
    let stroke = teacher.pen.stroke
    if let first {
        for number in [first, stroke.points.count - first, stroke.predicted.count] { buffers.append(word: number) }
        for point in stroke.points[first...] { buffers.append(point) }
        for point in stroke.predicted { buffers.append(point) }
    }
    return (change.isCancelled ? 1 : 0) + (change.hasBegun ? 2 : 0) + (change.hasEnded ? 4 : 0)
        + (element < 0 ? 0 : 128 + element << 8) + (first == nil ? 0 : 8) + (stroke.isErasing ? 16 : 0)
        + (change.tap == 2 ? 32 : change.tap == 3 ? 64 : 0)
}

/// Takes the tool, and returns the media time before it.
private func takeTool(_ reader: inout InputReader) -> Int64? {
    let mediaTime = mediaTime(reader.number(Double.self, or: .nan))
    let (element, colour, width) = (
        reader.number(Double.self, or: 0), reader.number(Double.self, or: 0), reader.number(Double.self, or: 1)
    )
    teacher.tool = DrawingSession.Tool(
        element: UInt8(exactly: element).flatMap { Element(rawValue: $0) } ?? .freehand,
        colour: UInt32(exactly: colour) ?? 0, width: width)
    return mediaTime
}

extension InputReader {
    fileprivate mutating func sample() -> Pen.Sample {
        func value(_ number: Double) -> Double? { number.isFinite ? number : nil }
        let (x, y, time) = (
            number(Double.self, or: .nan), number(Double.self, or: .nan), number(Double.self, or: 0)
        )
        let (force, altitude, azimuth) = (
            number(Double.self, or: .nan), number(Double.self, or: .nan), number(Double.self, or: .nan)
        )
        return Pen.Sample(
            x: x, y: y, time: value(time) ?? 0, force: value(force), altitude: value(altitude), azimuth: value(azimuth))
    }
}

extension Buffers {
    fileprivate mutating func append(_ point: StrokePoint) {
        append(point.x)
        append(point.y)
        for number in [point.force, point.altitude, point.azimuth, point.milliseconds] { append(number ?? .nan) }
    }
}
