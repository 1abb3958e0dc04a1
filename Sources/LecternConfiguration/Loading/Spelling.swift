/// Finds what a misspelt word was meant to be.
enum Spelling {
    /// The candidate with the fewest edits; nil when even that takes more than a third of its letters (one
    /// edit is always allowed, but never a change of every letter). Among equals the first in the alphabet.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.utf8)
        // No key is nearly as long, and the cost grows with the square.
        guard letters.count <= 128 else { return nil }
        let scored = candidates.map { (edits: distance(letters, Array($0.utf8)), word: $0) }
        guard let best = scored.min(by: { ($0.edits, $0.word) < ($1.edits, $1.word) }) else { return nil }
        let length = best.word.utf8.count
        return best.edits <= max(1, length / 3) && best.edits < length ? best.word : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`: the optimal string
    /// alignment distance (Damerau 1964, in the restricted form), by dynamic programming over three rows.
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(b.count + 1)
            for j in b.indices {
                var edits = min(previous[j] + (letter == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, letter == b[j - 1], a[i - 1] == b[j] {
                    edits = min(edits, before[j - 1] + 1)
                }
                row.append(edits)
            }
            (before, previous) = (previous, row)
        }
        return previous[b.count]
    }
}
