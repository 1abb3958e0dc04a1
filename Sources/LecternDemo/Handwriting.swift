import LecternClient

/// Handwriting: slanted text with jitter, along a drifting baseline.
struct Handwriting {
    /// Height of the letter x, in board units.
    var size: Double
    /// Slant to the right, per unit of height.
    var slant = 0.16
    /// Largest distance of a place from its grid point, in grid units.
    var jitter = 0.35
    /// Distance of two samples of the pen, in board units.
    var step = 4.2

    /// The strokes of a line of text, letter by letter.
    ///
    /// - Parameters:
    ///   - text: letters of ``Alphabet``; the letter after `^` is a superscript, after `_` a subscript.
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

        /// In heights of the letter x.
        var offset: Double { self == .up ? -0.8 : 0.3 }
    }

    private func lean(_ place: Place, at origin: Place, _ scale: Double, using random: inout SeededGenerator) -> Place {
        let height = 14 - (place.y + random.jitter(jitter))
        let x = place.x + random.jitter(jitter)
        return Place(origin.x + (x + slant * height) * scale, origin.y - height * scale)
    }

    /// Keeps the two places of a corner equal, as jitter moves each on its own.
    private func keepingCorners(_ places: [Place], of stroke: [Place]) -> [Place] {
        var places = places
        for i in stroke.indices.dropFirst() where stroke[i] == stroke[i - 1] { places[i] = places[i - 1] }
        return places
    }
}

/// The letters as strokes of a pen, each given by the places it runs through.
enum Alphabet {
    /// Height of a letter such as x, in grid units. Tall letters reach 14 units above the baseline, tails 6 below.
    static let xHeight = 8.0
    /// Width of a blank, in grid units.
    static let blank = 7.0
    /// Space between two letters, in grid units.
    static let spacing = 3.0

    /// Each place is a pair of base-36 digits: x from the left edge, y down from the top of tall letters. The top of
    /// an x is at 6, the baseline at e (14), the end of a tail at k (20). `|` lifts the pen; a place given twice is a
    /// corner; a single place is a dot.
    static let letters: [Character: String] = [
        "a": "77 46 18 0b 2e 5d 7a 76 76 7b 8e 9e", "b": "00 0e 0e 09 36 67 8a 6d 3e 0c", "c": "77 46 18 0b 2e 5e 7c",
        "d": "77 46 18 0b 2e 5d 7a 70 70 7b 8e 9e", "e": "1a 4a 79 67 46 18 0b 2e 5e 7c", "f": "71 50 32 36 3e|06 66",
        "g": "77 46 18 0b 2e 5d 7a 76 76 7e 6i 3k 0i", "h": "00 0e 0e 09 36 67 79 7e", "i": "06 0c 1e 2e|02",
        "j": "36 3g 2k 0j|32", "k": "00 0e|66 0a 0a 7e", "l": "00 0b 1e 3e",
        "m": "06 0e 0e 09 26 47 5a 5e 5e 59 76 97 aa ae", "n": "06 0e 0e 09 36 67 7a 7e",
        "o": "46 17 0a 1d 4e 7d 8a 77 46 36", "p": "06 0k 0k 09 36 67 8a 6d 3e 0c",
        "q": "77 46 18 0b 2e 5d 7a 76 76 7k 9j",
        "r": "06 0e 0e 09 36 66", "s": "67 36 17 29 5a 6c 5e 2e 0d", "t": "31 3b 4e 6e|06 66",
        "u": "06 0b 2e 5d 7b 76 76 7b 8e 9e", "v": "06 4e 4e 86", "w": "06 2e 2e 57 57 8e 8e a6", "x": "06 7e|76 0e",
        "y": "06 2c 4d|86 4e 2j 0k", "z": "06 76 76 0e 0e 7e",
        "A": "0e 50 50 ae|29 89", "E": "80 00 00 0e 0e 8e|07 67", "F": "00 0e|00 80|07 67", "K": "00 0e|90 08 08 9e",
        "L": "00 0e 0e 8e", "M": "0e 00 00 6b 6b c0 c0 ce", "N": "0e 00 00 8e 8e 80", "P": "00 0e|00 50 83 56 07",
        "S": "81 50 11 04 47 79 8c 5e 2e 0c", "T": "00 a0|50 5e", "V": "00 6e 6e c0",
        "0": "40 13 07 1b 4e 7b 87 73 40 30", "1": "03 40 40 4e", "2": "03 20 61 74 59 0e 0e 8e",
        "3": "02 30 62 56 37 37 69 7c 4e 0c", "4": "60 0a 0a 8a|66 6e", "5": "70 10 10 06 06 46 79 6d 3e 0d",
        "6": "61 23 08 1d 4e 7c 69 38 0a", "7": "00 80 80 3e", "8": "71 30 03 47 7b 4e 1d 0b 46 73 61",
        "9": "73 40 03 27 67 73 73 6e",
        "=": "07 87|0b 8b", "+": "09 89|45 4d", "-": "09 69", "/": "80 0e", "(": "40 13 07 1b 4e",
        ")": "00 34 47 3b 0e",
        ".": "0e", ",": "1d 0g", ":": "08|0d", "'": "20 13", "·": "1a", "?": "02 30 63 45 37 3a|3e", "!": "20 2a|2e",
        "Δ": "0e 50 50 ae ae 0e",
    ]

    /// The strokes of a letter in grid units; nil for an unknown letter.
    static func strokes(of letter: Character) -> [[Place]]? {
        letters[letter]?.split(separator: "|").map { stroke in
            stroke.split(separator: " ").compactMap { pair in
                guard let x = pair.first?.base36, let y = pair.last?.base36, pair.count == 2 else { return nil }
                return Place(x, y)
            }
        }
    }
}

extension Character {
    /// The value of a base-36 digit.
    fileprivate var base36: Double? { Int(String(self), radix: 36).map(Double.init) }
}

/// A point in board units or in the grid of a letter; y points down.
struct Place: Sendable, Equatable {
    var x: Double
    var y: Double

    init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }

    func distance(to other: Place) -> Double {
        let (dx, dy) = (other.x - x, other.y - y)
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The place at a share `t` of the line to another.
    func between(_ other: Place, _ t: Double) -> Place {
        Place(x + (other.x - x) * t, y + (other.y - y) * t)
    }
}

/// Paths of a pen from touching the board to leaving it.
enum PenPath {
    /// A smooth curve through places: a uniform Catmull-Rom spline (Catmull, Rom: "A class of local interpolating
    /// splines", 1974). A place given twice in a row is a corner.
    ///
    /// - Parameter step: about how far apart the samples lie.
    static func smooth(_ places: [Place], step: Double) -> [Place] {
        guard var last = places.first else { return [] }
        var samples = [last]
        for i in places.indices.dropFirst() {
            let next = places[i]
            defer { last = next }
            guard last != next else { continue }
            let before = i >= 2 ? places[i - 2] : last
            let after = i + 1 < places.count ? places[i + 1] : next
            let count = max(2, Int((last.distance(to: next) / step).rounded()))
            for k in 1...count {
                let t = Double(k) / Double(count)
                samples.append(
                    Place(
                        spline(before.x, last.x, next.x, after.x, t), spline(before.y, last.y, next.y, after.y, t)))
            }
        }
        return samples
    }

    static func straight(_ from: Place, _ to: Place, step: Double) -> [Place] {
        let count = max(1, Int((from.distance(to: to) / step).rounded()))
        return (0...count).map { from.between(to, Double($0) / Double(count)) }
    }

    private static func spline(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ t: Double) -> Double {
        let (outgoing, incoming) = ((c - a) / 2, (d - b) / 2)
        let (t2, t3) = (t * t, t * t * t)
        return b * (2 * t3 - 3 * t2 + 1) + outgoing * (t3 - 2 * t2 + t) + c * (3 * t2 - 2 * t3) + incoming * (t3 - t2)
    }
}
