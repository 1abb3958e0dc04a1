/// Finds runs that came before, and makes the tokens of a block.
///
/// Soft edges repeat: the same shades of one ink stand on paper again and again. Sequences of runs are looked for where
/// their first two runs stood last, else where their first one did. A match is taken when it is shorter than the literals,
/// by the code of the block before.
struct RunMatcher {
    /// The greatest distance of a match, in bytes.
    static let window = 32_768

    private static let hashBits: UInt32 = 13
    /// A match begins with no longer run: those are paper or ink, which take few bits by themselves.
    private static let mostPixels: UInt32 = 1

    /// By the hash of a pixel and of the next run's: the number of the newest such run, counted from 1 on.
    private var pairs = [UInt32](repeating: 0, count: 1 << hashBits)
    /// By the hash of a pixel.
    private var singles = [UInt32](repeating: 0, count: 1 << hashBits)

    /// Adds the tokens of a block, two a run at most.
    ///
    /// - Parameters:
    ///   - runs: the block, and before it what its matches may reach.
    ///   - block: the places of the block in `runs`.
    ///   - dropped: the number of runs of the image that stood before `runs`.
    ///   - costs: of the code by which literals and matches are compared.
    mutating func match(
        _ runs: UnsafePointer<ByteRun>, block: Range<Int>, dropped: Int, _ costs: RunCode.Costs,
        into tokens: inout TokenSink
    ) {
        let first = dropped &+ 1
        pairs.withUnsafeMutableBufferPointer { pairs in
            singles.withUnsafeMutableBufferPointer { singles in
                var at = block.lowerBound
                while at < block.upperBound {
                    let run = runs[at]
                    guard run.count &- 1 < Self.mostPixels else {
                        if run.count > 0 { tokens.add(run) } else { tokens.addRowBegin() }
                        at &+= 1
                        continue
                    }
                    let pair = Self.slot(run.value, at &+ 1 < block.upperBound ? runs[at &+ 1].value : 0)
                    let single = Self.slot(run.value)
                    // Both are looked up, because it is not predictable which of them there is.
                    let found = Self.newest(runs, Int(pairs[pair]) &- first, Int(singles[single]) &- first, run)
                    pairs[pair] = UInt32(truncatingIfNeeded: at &+ first)
                    singles[single] = UInt32(truncatingIfNeeded: at &+ first)
                    guard found >= 0,
                        let match = Match(runs, at: at, from: found, end: block.upperBound, costs)
                    else {
                        tokens.add(run)
                        at &+= 1
                        continue
                    }
                    tokens.addMatch(length: match.length, distance: match.distance)
                    if match.rest > 0 { tokens.addRepetition(match.rest) }
                    at &+= 1
                    while at < match.end {
                        let run = runs[at]
                        if run.count &- 1 < Self.mostPixels {
                            let next = at &+ 1 < block.upperBound ? runs[at &+ 1].value : 0
                            pairs[Self.slot(run.value, next)] = UInt32(truncatingIfNeeded: at &+ first)
                            singles[Self.slot(run.value)] = UInt32(truncatingIfNeeded: at &+ first)
                        }
                        at &+= 1
                    }
                }
            }
        }
    }

    /// The place of a run like `run`: `pair` if it is one, else `single`; -1 where neither is one.
    @inline(__always)
    private static func newest(
        _ runs: UnsafePointer<ByteRun>, _ pair: Int, _ single: Int, _ run: ByteRun
    ) -> Int {
        func rated(_ place: Int) -> Int {
            let candidate = runs[max(place, 0)]
            let difference = candidate.value ^ run.value | (run.start &- candidate.start) / UInt32(window)
            return difference == 0 ? place : -1
        }
        let both = (rated(pair), rated(single))
        return both.0 >= 0 ? both.0 : both.1
    }

    @inline(__always)
    private static func slot(_ value: UInt32) -> Int {
        Int(truncatingIfNeeded: (value &* 0x9E37_79B1) &>> (32 &- hashBits))
    }

    @inline(__always)
    private static func slot(_ value: UInt32, _ next: UInt32) -> Int {
        slot(value &* 0xC2B2_AE35 ^ next &* 0x85EB_CA6B)
    }
}

/// Runs that came before, from the start of a run with the same pixel on.
private struct Match {
    /// How far back they stand, in bytes.
    let distance: Int
    private(set) var length: Int
    /// The bytes of the last run that are left: they repeat its pixel.
    private(set) var rest: Int
    /// The place behind the last run.
    private(set) var end: Int
    /// The bits that are saved.
    private(set) var gain = 0

    /// `nil` unless bits are saved.
    @inline(__always)
    init?(
        _ runs: UnsafePointer<ByteRun>, at start: Int, from earlier: Int, end limit: Int, _ costs: RunCode.Costs
    ) {
        let run = runs[start]
        let origin = runs[earlier]
        guard origin.count > 0 else { return nil }
        let pixelBytes = costs.pixelBytes
        // The ends of both runs are aligned, so that what follows may match too; the starts, where the earlier is shorter.
        let skipped = max(Int(origin.count) &- Int(run.count), 0)
        distance = Int(run.start &- origin.start) &- skipped &* pixelBytes
        guard distance <= RunMatcher.window else { return nil }
        var matched = min(Int(run.count), Int(origin.count))
        var literals = costs.pixel(run.value) &+ costs.repetition(matched)
        length = matched &* pixelBytes
        rest = (Int(run.count) &- matched) &* pixelBytes
        end = start &+ 1
        /// The bytes before the last run.
        var before = 0
        var from = earlier &+ 1
        while rest == 0, length < MatchLength.most, end < limit {
            let run = runs[end]
            let origin = runs[from]
            guard run.value == origin.value, (run.count == 0) == (origin.count == 0) else { break }
            end &+= 1
            from &+= 1
            guard run.count > 0 else {
                literals &+= costs.rowBegin
                length &+= 1
                continue
            }
            matched = min(Int(run.count), Int(origin.count))
            literals &+= costs.pixel(run.value) &+ costs.repetition(matched)
            before = length
            length &+= matched &* pixelBytes
            rest = (Int(run.count) &- matched) &* pixelBytes
            // The match ends here.
            if run.count != origin.count { break }
        }
        if length > MatchLength.most { cut(before: before, pixelBytes: pixelBytes) }
        gain = literals &- costs.match(length: length, distance: distance)
        guard gain > 0 else { return nil }
    }

    /// Shortens the match to what a code can have. What is left of the last run repeats the pixel before it, so that the
    /// match has to have at least one pixel of that run, and leaves no fewer bytes than the shortest match.
    private mutating func cut(before: Int, pixelBytes: Int) {
        let left = length &+ rest &- MatchLength.most
        let longest = left < MatchLength.least ? MatchLength.most &- MatchLength.least : MatchLength.most
        if longest &- before >= pixelBytes {
            rest &+= length &- longest
            length = longest
        } else {
            length = before
            rest = 0
            end &-= 1
        }
    }
}
