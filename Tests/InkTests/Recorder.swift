import Ink
import StrokeWire
import TestSupport

/// Records what a tracer sends, segment by segment.
struct Recorder: CurveSink, Equatable {
    enum Segment: Equatable {
        case begin(Vector, Nib)
        case line(Vector, Nib)
        case quadratic(Vector, Vector, Nib)
        case cubic(Vector, Vector, Vector, Nib)
    }

    var segments: [Segment] = []

    mutating func begin(at point: Vector, nib: Nib) { segments.append(.begin(point, nib)) }
    mutating func line(to end: Vector, nib: Nib) { segments.append(.line(end, nib)) }
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        segments.append(.quadratic(control, end, nib))
    }
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        segments.append(.cubic(control1, control2, end, nib))
    }

    /// Where the pen was last.
    var end: Vector? {
        switch segments.last {
        case .begin(let point, _), .line(let point, _), .quadratic(_, let point, _), .cubic(_, _, let point, _): point
        case nil: nil
        }
    }
}

/// The segments of a freehand stroke.
func trace(_ style: InkStyle, width: Double = 16, _ points: [StrokePoint]) -> [Recorder.Segment] {
    var recorder = Recorder()
    InkStroke(element: .freehand, style: style, width: width, points: points).trace(into: &recorder)
    return recorder.segments
}

/// Points without the state of a pen.
func points(_ places: [(Double, Double)]) -> [StrokePoint] {
    places.map { StrokePoint(x: $0.0, y: $0.1) }
}

extension Recorder.Segment {
    /// The nib at the end.
    var nib: Nib {
        switch self {
        case .begin(_, let nib), .line(_, let nib), .quadratic(_, _, let nib), .cubic(_, _, _, let nib): nib
        }
    }
}

/// The place on a cubic.
func cubicPoint(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector, at t: Double) -> Vector {
    let u = 1 - t
    let early = a * (u * u * u) + b * (3 * u * u * t)
    return early + c * (3 * u * t * t) + d * (t * t * t)
}
