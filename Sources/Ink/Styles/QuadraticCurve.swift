/// The `quadratic` style: consecutive midpoints with the touch point between them as control, constant width.
struct QuadraticCurve: Sendable {
    private let nib: Nib
    private var pieces = MidpointQuadratics()

    init(width: Double) {
        nib = Nib(width: width)
    }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        pieces.add(PenStop(place: point, nib: nib), into: &sink)
    }

    func finish(into sink: inout some CurveSink) {
        pieces.finish(into: &sink)
    }
}
