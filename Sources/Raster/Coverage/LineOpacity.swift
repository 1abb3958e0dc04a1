internal import Ink

/// Draws the opacity of a stroke as the line goes on: each piece reaches so far behind its ends that the bend between it
/// and its neighbour is filled, and no farther.
struct LineOpacity {
    private var pending: CentrePiece?
    private var before: Float = 0
    private var least: Float = 1

    mutating func add(_ piece: CentrePiece, to surface: OpacityRows) {
        var overlap = Self.round(piece.start)
        if let pending {
            // The tangent of half the angle.
            let cosine = pending.arriving.dot(piece.leaving)
            let wedge = ((1 - cosine).raised(to: 0) / (1 + cosine).raised(to: 1e-3)).root
            overlap = ((piece.start.radius + PieceRows.fringe) * wedge + 0.01).lowered(to: overlap)
            surface.raise(pending, before: before, after: overlap)
        }
        before = overlap
        pending = piece
        least = least.lowered(to: piece.start.opacity).lowered(to: piece.end.opacity)
    }

    /// Draws the opacity of a lone disc.
    mutating func add(_ sample: CentreSample, to surface: OpacityRows) {
        surface.raise(sample)
        least = least.lowered(to: sample.opacity)
    }

    /// Ends the line; the next piece does not go on from it.
    mutating func finish(on surface: OpacityRows) {
        if let pending { surface.raise(pending, before: before, after: Self.round(pending.end)) }
        pending = nil
    }

    /// Gives the coverage of the whole stroke its opacity.
    func fade(_ mask: CoverageRows, by surface: OpacityRows) {
        for y in 0..<mask.height { surface.fade(y, of: mask, least: least) }
    }

    private static func round(_ sample: CentreSample) -> Float { sample.radius + PieceRows.fringe }
}
