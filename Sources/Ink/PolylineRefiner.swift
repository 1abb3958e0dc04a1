public import StrokeWire

/// Adds points to lines of few points, so that the style `smooth` draws them as they are.
///
/// `smooth` takes points for samples of a moving hand, close together, and cuts the corners between them. Files of other
/// programs have strokes of few points, with long straight lines between them. Two points on either side of a corner, a
/// quarter of the pen's width apart, hold the curve there.
public enum PolylineRefiner {
    /// The points of a freehand stroke or an eraser, with others on the straight lines between them.
    ///
    /// The curve of `smooth` through the result is nowhere farther than half the pen's width from these lines. Points that are
    /// close enough together for that stay as they are. The state of the pen changes evenly along a line.
    ///
    /// - Parameters:
    ///   - width: of the pen, in the points' units.
    ///   - limit: of the number of points. The points stay as they are where more would be needed; there are never more than
    ///     five times as many.
    public static func refined(_ points: [StrokePoint], width: Double, limit: Int) -> [StrokePoint] {
        guard points.count > 2, width > 0, width.isFinite else { return points }
        var refinement = Refinement(points, width: width)
        for _ in 0..<rounds {
            guard refinement.markCorners() else { break }
            refinement.rebuild()
            guard refinement.points.count <= limit else { return points }
        }
        return refinement.points
    }

    /// New points change where the segments of the curve begin, which may bring up other corners: seldom more than once.
    private static let rounds = 4
}

private struct Refinement {
    private let source: [StrokePoint]
    private let width: Double
    /// By index in the source: whether the curve must be held there.
    private var isCorner: [Bool]
    private(set) var points: [StrokePoint]
    /// By index in ``points``: the place in the source; nil for a point that was added.
    private var origins: [Int?]

    init(_ points: [StrokePoint], width: Double) {
        source = points
        self.points = points
        self.width = width
        isCorner = Array(repeating: false, count: points.count)
        origins = points.indices.map(Optional.init)
    }

    /// Looks for corners that the curve of the points cuts by more than half the pen's width. Points that come or go
    /// before a place change where segments begin, so that every place counts as a beginning.
    ///
    /// - Returns: whether there are any that were not known.
    mutating func markCorners() -> Bool {
        let places = points.map { Vector($0.x, $0.y) }
        var isNew = false
        for start in places.indices.dropLast(2) {
            let window = max(start - 1, 0)...min(start + 4, places.count - 1)
            guard cutsCorner(places, start, window) else { continue }
            for index in window.dropFirst().dropLast() {
                guard let origin = origins[index], !isCorner[origin], 1..<source.count - 1 ~= origin,
                    !isStraight(places[index - 1], places[index], places[index + 1])
                else { continue }
                isCorner[origin] = true
                isNew = true
            }
        }
        return isNew
    }

    private func isStraight(_ before: Vector, _ place: Vector, _ after: Vector) -> Bool {
        // Of points on each other none is straight. A corner may be two bends close together, so that the angle counts, too.
        let (incoming, outgoing) = (place - before, after - place)
        let along = incoming.dot(outgoing)
        return along > 0 && abs(incoming.cross(outgoing)) <= along / 4096
            && place.distance(fromLine: before, after) <= width / 64
    }

    /// Whether a segment of `smooth` that begins at a point leaves the lines between the points.
    private func cutsCorner(_ places: [Vector], _ start: Int, _ window: ClosedRange<Int>) -> Bool {
        let (first, last) = (places[window.lowerBound], places[window.upperBound])
        // As for most points of ink from a pen: curve and lines lie along one chord.
        if window.allSatisfy({ places[$0].distance(fromLine: first, last) <= width / 4 }) { return false }
        let begin = start == 0 ? first : places[start - 1].midpoint(to: places[start + 1])
        let (control1, control2) = (places[start + 1], places[start + 2])
        // Three points at the end are a quadratic, which is this cubic.
        var curve = (begin, begin + (control1 - begin) * (2 / 3), control2 + (control1 - control2) * (2 / 3), control2)
        if start + 3 < places.count {
            let end = start + 4 < places.count ? control2.midpoint(to: places[start + 4]) : places[start + 3]
            curve = (begin, control1, control2, end)
        }
        var samples: [Vector] = []
        for step in 0...8 {
            let t = Double(step) / 8
            let u = 1 - t
            let outer = u * u * u * curve.0 + t * t * t * curve.3
            samples.append(outer + 3 * u * t * (u * curve.1 + t * curve.2))
        }
        // Half the width, less what may lie between the samples.
        let tolerance = width * 0.45
        func isFar(_ place: Vector, from line: some Collection<Vector>) -> Bool {
            !zip(line, line.dropFirst()).contains { place.distance(fromLine: $0, $1) <= tolerance }
        }
        // What the segment has to come by; the last point is reached.
        let corners = places[(start + 1)...min(start + 3, places.count - 2)]
        return samples.contains { isFar($0, from: places[window]) } || corners.contains { isFar($0, from: samples) }
    }

    /// Makes the points anew of the source and its corners.
    mutating func rebuild() {
        points = []
        origins = []
        for index in source.indices {
            points.append(source[index])
            origins.append(index)
            guard index + 1 < source.count else { break }
            let (begin, end) = (source[index], source[index + 1])
            for share in shares(Vector(end.x - begin.x, end.y - begin.y).length, index) {
                points.append(begin.interpolated(to: end, at: share))
                origins.append(nil)
            }
        }
    }

    /// Where points are added on the line from a point to the next.
    private func shares(_ length: Double, _ index: Int) -> [Double] {
        guard length.isFinite else { return [] }
        let step = width / 4
        let all = Int(min((length / step).rounded(.up), 5)) - 1
        switch (isCorner[index], isCorner[index + 1]) {
        case (true, true) where all < 4: return (0..<max(all, 0)).map { Double($0 + 1) / Double(all + 1) }
        case (true, true): return [step / length, 2 * step / length, 1 - 2 * step / length, 1 - step / length]
        case (true, false): return (0..<max(min(all, 2), 0)).map { Double($0 + 1) * step / length }
        case (false, true): return (0..<max(min(all, 2), 0)).reversed().map { 1 - Double($0 + 1) * step / length }
        case (false, false): return []
        }
    }
}

extension StrokePoint {
    /// The point at a share of the way to another. Coordinates are rounded to thousandths, which messages write shortly.
    fileprivate func interpolated(to other: StrokePoint, at share: Double) -> StrokePoint {
        func between(_ begin: Double?, _ end: Double?) -> Double? {
            begin.flatMap { begin in
                end.map { end in
                    let way = end - begin
                    // The way between two large numbers may be larger than any number.
                    return way.isFinite ? begin + way * share : begin * (1 - share) + end * share
                }
            }
        }
        func coordinate(_ begin: Double, _ end: Double) -> Double {
            ((begin + (end - begin) * share) * 1000).rounded() / 1000
        }
        // The shorter way around.
        let turn = azimuth.flatMap { azimuth in
            other.azimuth.map { azimuth + ($0 - azimuth).remainder(dividingBy: 2 * .pi) }
        }
        return StrokePoint(
            x: coordinate(x, other.x), y: coordinate(y, other.y), force: between(force, other.force),
            altitude: between(altitude, other.altitude), azimuth: between(azimuth, turn),
            milliseconds: between(milliseconds, other.milliseconds))
    }
}
