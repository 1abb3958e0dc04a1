package import Ink
package import PathGeometry

/// Makes contours of centre lines, with the stroker of the rasterizer: lines and parabolas that lead back to their start.
/// Filled together under the nonzero rule, the contours of a stroke are its ink.
///
/// A line is one contour as long as it is smooth: under the nonzero rule it may cross itself. At corners, and where one
/// disc contains the next, another contour begins, with a round cap. Neighbouring parabolas and lines of a contour are
/// joined as long as one of either is as good, so that a contour has few of them.
///
/// A line comes as a whole, or in parts of which each begins with the last sample of the one before; its contours are the same.
/// One contour is in memory at a time.
package struct StrokeContours {
    private var outliner: StrokeOutliner<ContourEdges>
    /// The tangent at the end of the last segment, unless the line is broken there.
    private var endTangent: SIMD2<Float>?
    /// The last sample of the line so far.
    private var end: CentreSample?
    /// Segments of the line since its outline began.
    private var segmentCount = 0
    private let reducer: ContourReducer

    /// After so many segments another contour begins as at a corner: a few megabytes of edges.
    package static let mostSegments = 16384

    /// - Parameters:
    ///   - scale: pixels of the samples a unit of the contours, above 0.
    ///   - tolerance: how far joining may move a contour, in its own units; 0 for no joining.
    package init(scale: Double, tolerance: Double) {
        outliner = StrokeOutliner(ContourEdges(scale: scale))
        reducer = ContourReducer(tolerance: tolerance)
    }

    /// The contours of a centre line; none of no samples.
    package mutating func contours(of samples: [CentreSample]) -> [Contour] {
        var contours: [Contour] = []
        samples.withUnsafeBufferPointer { samples in add(samples) { contours.append($0) } }
        finish { contours.append($0) }
        return contours
    }

    /// Adds the next part of a line.
    /// - Parameter body: gets each contour that ends; may throw to stop.
    package mutating func add<Failure: Error>(
        _ samples: UnsafeBufferPointer<CentreSample>, _ body: (Contour) throws(Failure) -> Void
    ) throws(Failure) {
        guard let last = samples.last else { return }
        for index in stride(from: 1, to: samples.count, by: 4) {
            let four = SegmentTangents.Four(samples, from: index)
            for (offset, tangents) in [four.first, four.second, four.third, four.fourth].enumerated()
            where index + offset < samples.count {
                add(samples[index + offset - 1], samples[index + offset], tangents)
                try send(to: body)
            }
        }
        end = last
    }

    /// Ends the line; the next part begins another one.
    package mutating func finish<Failure: Error>(_ body: (Contour) throws(Failure) -> Void) throws(Failure) {
        guard let last = end else { return }
        end = nil
        finish(at: last)
        try send(to: body)
    }

    private mutating func send<Failure: Error>(to body: (Contour) throws(Failure) -> Void) throws(Failure) {
        guard outliner.sink.hasContours else { return }
        for contour in outliner.sink.takeContours() { try body(reducer.reduced(contour)) }
    }

    private mutating func add(_ from: CentreSample, _ to: CentreSample, _ tangents: SegmentTangents) {
        guard let segment = StrokeSegment(from: from, to: to, tangents) else {
            // One disc contains the other, or nearly.
            if from.radius != to.radius { finish(at: from) }
            return
        }
        if let endTangent,
            endTangent.dot(segment.startTangent) < StrokeSegment.cornerCosine || segmentCount == Self.mostSegments
        {
            outliner.finish(.round)
            segmentCount = 0
        }
        outliner.add(segment, startCap: .round)
        segmentCount += 1
        endTangent = segment.endTangent
    }

    /// Breaks the line at a sample; without a segment that leads there it is a dot.
    private mutating func finish(at sample: CentreSample) {
        if endTangent == nil { outliner.disc(sample) }
        outliner.finish(.round)
        endTangent = nil
        segmentCount = 0
    }
}

/// Puts the edges of outlines in order: those of sign 1 as they come, then those of sign −1 the other way round.
private struct ContourEdges: EdgeSink {
    private var ahead: [Edge] = []
    private var back: [Edge] = []
    private var contours: [Contour] = []
    private let perPixel: Double

    init(scale: Double) { perPixel = 1 / scale }

    mutating func add(_ edge: Edge) {
        if edge.sign > 0 { ahead.append(edge) } else { back.append(edge) }
    }

    mutating func add(_ one: Edge, _ other: Edge) {
        add(one)
        add(other)
    }

    mutating func flush() {
        guard let first = ahead.first else { return }
        var contour = Contour(start: vector(first.start))
        for edge in ahead { add(edge, to: edge.end, of: &contour) }
        for edge in back.reversed() { add(edge, to: edge.start, of: &contour) }
        contour.close()
        contours.append(contour)
        ahead.removeAll(keepingCapacity: true)
        back.removeAll(keepingCapacity: true)
    }

    var hasContours: Bool { !contours.isEmpty }

    mutating func takeContours() -> [Contour] {
        defer { contours = [] }
        return contours
    }

    private func add(_ edge: Edge, to end: SIMD2<Float>, of contour: inout Contour) {
        guard edge.sag != .zero else { return contour.addLine(to: vector(end)) }
        contour.addQuadratic(
            control: (vector(edge.start) + vector(edge.end)) * 0.5 + vector(edge.sag) * 2, to: vector(end))
    }

    private func vector(_ place: SIMD2<Float>) -> Vector { Vector(Double(place.x), Double(place.y)) * perPixel }
}

/// Replaces neighbouring segments of contours by one line or parabola with the same ends and tangents.
private struct ContourReducer {
    /// The most segments that are joined, so that the work is linear in their number.
    private static let mostJoined = 32

    let tolerance: Double

    func reduced(_ contour: Contour) -> Contour {
        guard tolerance > 0 else { return contour }
        var result: [Segment] = []
        var rest = contour.segments[...]
        while let first = rest.first {
            var (joined, count) = (first, 1)
            // A line first: a parabola without bend is one.
            for next in 1...min(Self.mostJoined, rest.count) {
                guard let one = line(rest.prefix(next)) ?? parabola(rest.prefix(next)) else { break }
                (joined, count) = (one, next)
            }
            if joined.end != joined.start { result.append(joined) }
            rest = rest.dropFirst(count)
        }
        return Contour(result, closed: true)
    }

    private func line(_ segments: ArraySlice<Segment>) -> Segment? {
        guard let start = segments.first?.start, let end = segments.last?.end else { return nil }
        return isNear(segments, Chord(start, end)) ? .line(start, end) : nil
    }

    private func parabola(_ segments: ArraySlice<Segment>) -> Segment? {
        guard let first = segments.first, let last = segments.last else { return nil }
        if segments.count == 1 { return first }
        let (out, into) = (first.startTangent, last.endTangent)
        let turn = out.cross(into)
        // Not more than a quarter, and not so little that the tangents have no clear intersection.
        guard out.dot(into) > 0, turn * turn > 1e-6 * out.dot(out) * into.dot(into) else { return nil }
        let chord = last.end - first.start
        let ahead = chord.cross(into) / turn
        guard ahead > 0, out.cross(chord) / turn > 0 else { return nil }
        let control = first.start + out * ahead
        guard isNear(segments, Chord(first.start, last.end), control: control) else { return nil }
        return .quadratic(first.start, control: control, last.end)
    }

    /// Whether segments only go ahead along a chord, near to it or to the parabola with a control point. Segments that turn
    /// back lie on the inner edge of a tight bend: moved by a little, they could leave a gap in the ink.
    private func isNear(_ segments: ArraySlice<Segment>, _ chord: Chord, control: Vector? = nil) -> Bool {
        var reached = 0.0
        return segments.allSatisfy { segment in
            (1...4).allSatisfy { quarter in
                let place = chord.place(segment.point(at: Double(quarter) / 4))
                guard place.along >= reached, place.along <= chord.length + 1e-9 else { return false }
                reached = place.along
                return abs(place.across - chord.height(at: place.along, control: control)) < tolerance
            }
        }
    }
}

/// The line between the ends of a curve. Places have a distance along it and one across.
private struct Chord {
    private let start: Vector
    private let direction: Vector
    let length: Double

    init(_ start: Vector, _ end: Vector) {
        self.start = start
        let way = end - start
        length = way.length
        direction = length > 0 ? way / length : Vector(1, 0)
    }

    func place(_ point: Vector) -> (along: Double, across: Double) {
        let offset = point - start
        return (offset.dot(direction), direction.cross(offset))
    }

    /// How far the parabola with a control point is from the chord at a distance along it; 0 without a control point, and
    /// infinite where the parabola does not go ahead.
    func height(at along: Double, control: Vector?) -> Double {
        guard let control else { return 0 }
        let bend = place(control)
        // Along the chord the parabola is at 2bt + (length − 2b)t².
        let twice = 2 * bend.along
        let root = (twice * twice + 4 * (length - twice) * along).squareRoot()
        guard twice > 0, root.isFinite else { return .infinity }
        let at = 2 * along / (twice + root)
        return 2 * at * (1 - at) * bend.across
    }
}

extension Segment {
    fileprivate var startTangent: Vector {
        switch self {
        case .line(let start, let end): end - start
        case .quadratic(let start, let control, _), .cubic(let start, let control, _, _): control - start
        }
    }

    fileprivate var endTangent: Vector {
        switch self {
        case .line(let start, let end): end - start
        case .quadratic(_, let control, let end), .cubic(_, _, let control, let end): end - control
        }
    }
}
