/// A place that the pen was at, and what it was like there.
struct PenStop: Sendable, Equatable {
    var place: Vector
    var nib: Nib

    static let none = PenStop(place: .zero, nib: Nib(width: 0))

    func midpoint(to other: PenStop) -> PenStop {
        PenStop(place: place.midpoint(to: other.place), nib: nib.interpolated(to: other.nib, at: 0.5))
    }
}
