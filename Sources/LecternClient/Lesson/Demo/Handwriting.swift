/// Writes text the way a hand does: slanted, never twice the same, along a baseline that wanders.
struct Handwriting {
    /// The height of an x, in board units.
    var size: Double
    /// How far the top of a letter leans to the right, by its height.
    var slant = 0.16
    /// How far a place may miss its grid point, in grid units.
    var jitter = 0.35
    /// Distance of two samples of the pen, in board units: its speed.
    var step = 4.2

    /// The strokes of a line of text, letter by letter.
    ///
    /// - Parameters:
    ///   - text: letters of ``Alphabet``; what stands after `^` is written small and high, after `_` small and low.
    ///   - start: left end of the baseline.
    func strokes(_ text: String, at start: Place, using random: inout SeededGenerator) -> [[Place]] {
        let unit = size / Alphabet.xHeight
        var pen = start
        var strokes: [[Place]] = []
        var shift: Shift?
        for letter in text {
            if let mark = Shift(letter) {
                shift = mark
                continue
            }
            guard let shape = Alphabet.strokes(of: letter) else {
                pen.x += Alphabet.blank * unit
                continue
            }
            let scale = unit * (shift == nil ? 1 : 0.6) * (1 + random.jitter(0.05))
            let baseline = pen.y + (shift?.offset ?? 0) * size
            let width = shape.joined().map(\.x).max() ?? 0
            for stroke in shape {
                let places = stroke.map { place in
                    lean(place, at: Place(pen.x, baseline), scale, using: &random)
                }
                strokes.append(PenPath.smooth(keepingCorners(places, of: stroke), step: step))
            }
            pen.x += (width + Alphabet.spacing) * scale
            pen.y += random.jitter(size * 0.04)
            shift = nil
        }
        return strokes
    }

    private enum Shift {
        case up, down

        init?(_ letter: Character) {
            switch letter {
            case "^": self = .up
            case "_": self = .down
            default: return nil
            }
        }

        /// In heights of an x.
        var offset: Double { self == .up ? -0.8 : 0.3 }
    }

    private func lean(_ place: Place, at origin: Place, _ scale: Double, using random: inout SeededGenerator) -> Place {
        let height = 14 - (place.y + random.jitter(jitter))
        let x = place.x + random.jitter(jitter)
        return Place(origin.x + (x + slant * height) * scale, origin.y - height * scale)
    }

    /// A corner, which is one place given twice, stays one place although each place misses its mark on its own.
    private func keepingCorners(_ places: [Place], of stroke: [Place]) -> [Place] {
        var places = places
        for i in stroke.indices.dropFirst() where stroke[i] == stroke[i - 1] { places[i] = places[i - 1] }
        return places
    }
}
