import Ink
import StrokeWire

/// What a freehand stroke sends.
func trace(_ style: InkStyle, width: Double = 16, _ points: [StrokePoint]) -> [Recorder.Piece] {
    var recorder = Recorder()
    InkStroke(element: .freehand, style: style, width: width, points: points).trace(into: &recorder)
    return recorder.pieces
}

/// Points without what a pen tells.
func points(_ places: [(Double, Double)]) -> [StrokePoint] {
    places.map { StrokePoint(x: $0.0, y: $0.1) }
}

extension Recorder.Piece {
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
