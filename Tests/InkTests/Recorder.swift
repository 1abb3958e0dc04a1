import Ink

/// Keeps what a tracer sends, piece by piece.
struct Recorder: CurveSink, Equatable {
    enum Piece: Equatable {
        case begin(Vector, Nib)
        case line(Vector, Nib)
        case quadratic(Vector, Vector, Nib)
        case cubic(Vector, Vector, Vector, Nib)
    }

    var pieces: [Piece] = []

    mutating func begin(at point: Vector, nib: Nib) { pieces.append(.begin(point, nib)) }
    mutating func line(to end: Vector, nib: Nib) { pieces.append(.line(end, nib)) }
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        pieces.append(.quadratic(control, end, nib))
    }
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        pieces.append(.cubic(control1, control2, end, nib))
    }

    /// Where the pen was last.
    var end: Vector? {
        switch pieces.last {
        case .begin(let point, _), .line(let point, _), .quadratic(_, let point, _), .cubic(_, _, let point, _): point
        case nil: nil
        }
    }
}
