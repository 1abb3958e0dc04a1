internal import Ink

/// Takes closed contours, all wound the same way: clockwise on the screen.
protocol ContourSink {
    /// Begins a contour.
    mutating func move(to point: Vector)
    /// Draws a straight edge.
    mutating func line(to point: Vector)
    /// Draws an arc of a circle clockwise on the screen, not more than a quarter of it.
    mutating func arc(to point: Vector, around centre: Vector, radius: Double)
    /// Goes back to where the contour began.
    mutating func close()
}

extension ContourSink {
    /// Continues on a circle, clockwise, from one direction to another that is less than half a turn away.
    mutating func arc(around centre: Vector, radius: Double, from start: Vector, to end: Vector) {
        if start.dot(end) < -1e-9 {
            let middle = start + end
            let length = middle.length
            guard length > 1e-9 else { return }
            arc(to: centre + middle * (radius / length), around: centre, radius: radius)
        }
        arc(to: centre + end * radius, around: centre, radius: radius)
    }

    /// A whole disc.
    mutating func disc(around centre: Vector, radius: Double) {
        move(to: centre + Vector(radius, 0))
        arc(to: centre + Vector(0, radius), around: centre, radius: radius)
        arc(to: centre - Vector(radius, 0), around: centre, radius: radius)
        arc(to: centre - Vector(0, radius), around: centre, radius: radius)
        arc(to: centre + Vector(radius, 0), around: centre, radius: radius)
        close()
    }
}
