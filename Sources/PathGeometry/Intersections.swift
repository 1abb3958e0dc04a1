/// A place where two paths meet.
public struct Intersection: Sendable, Equatable {
    /// The position of an intersection on one of the two paths.
    public struct Location: Sendable, Equatable {
        /// The index of the contour, and of the segment in it.
        public var contour, segment: Int
        /// 0 … 1; between a segment and the next it is 0 of the next one, if there is one.
        public var parameter: Double
    }

    /// The relation of a path, in its direction, to the other path's filled area at an intersection.
    public enum Passage: Sendable, Equatable {
        case enters, leaves
        /// Stays on the same side, begins, ends, or the other path is open and fills nothing.
        case touches
        /// Begins or ends to run along its border.
        case joinsBorder, partsFromBorder
    }

    public var point: Point
    /// On the path and on the other one.
    public var location, otherLocation: Location
    /// What the path does to the other one, and the other one to it.
    public var passage, otherPassage: Passage
}

/// A path cut by what a closed one fills; all parts are open contours in the direction of the contour that they come from.
public struct CutSegments: Sendable, Equatable {
    /// Parts of the path inside and outside of the closed path.
    public var inside: [Contour] = []
    public var outside: [Contour] = []
    /// Parts of the closed path's border from one cut to the next: those inside of the path if it is closed, so that with
    /// them the parts inside and outside can be closed again, and all of them if it is open. Parts of the path that run
    /// along the border are here too, once.
    public var border: [Contour] = []
}

extension Path {
    /// The places where this path meets another one, in the order of this path. Places nearer than 2⁻²⁷ (7.5e-9) of the
    /// size of both paths, or than 2⁻⁴⁴ of the greatest coordinate if that is more, are one. Of a common stretch only the
    /// ends are told. A path filled by the nonzero rule has an inside, open contours apart. O(n log n + k) for k pairs of
    /// segments whose boxes overlap in x.
    public func intersections(with other: Path) -> [Intersection] {
        let (arrangement, sides) = WalkSides.of(self, other, fillRule: .nonzero)
        var visits: [[(walk: Int, step: Int)]] = .init(repeating: [], count: arrangement.vertices.count)
        for (index, walk) in arrangement.walks.enumerated() where walk.operand == 1 {
            for step in arrangement.visits(of: walk) { visits[step.vertex].append((index, step.step)) }
        }
        var found: [Intersection] = []
        for (index, walk) in arrangement.walks.enumerated() where walk.operand == 0 {
            for visit in arrangement.visits(of: walk) {
                for match in visits[visit.vertex] {
                    let passages = (
                        sides.passage(index, before: visit.step), sides.passage(match.walk, before: match.step)
                    )
                    guard let passage = passages.0, let otherPassage = passages.1 else { continue }
                    found.append(
                        Intersection(
                            point: arrangement.vertices[visit.vertex],
                            location: arrangement.location(index, visit.step),
                            otherLocation: arrangement.location(match.walk, match.step),
                            passage: passage, otherPassage: otherPassage))
                }
            }
        }
        return found
    }

    /// This path, open or closed, cut by what another one fills. O(n log n + k), as ``intersections(with:)``.
    public func segments(cutBy other: Path, fillRule: FillRule = .nonzero) -> CutSegments {
        let (arrangement, sides) = WalkSides.of(self, Path(other.contours.map { $0.filled }), fillRule: fillRule)
        var result = CutSegments()
        let isFilled = contours.contains { $0.isClosed }
        var isCutVertex = [Bool](repeating: false, count: arrangement.vertices.count)
        for walk in arrangement.walks where walk.operand == 0 {
            for visit in arrangement.visits(of: walk) { isCutVertex[visit.vertex] = true }
        }
        for (index, walk) in arrangement.walks.enumerated() {
            for part in sides.parts(of: index, isCutVertex) {
                let contour = arrangement.contour(of: walk, part.steps)
                switch (walk.operand, part.side) {
                case (0, .inside): result.inside.append(contour)
                case (0, .outside): result.outside.append(contour)
                case (0, .border), (_, .inside): result.border.append(contour)
                case (_, .outside): if !isFilled, part.isCut { result.border.append(contour) }
                case (_, .border): break
                }
            }
        }
        return result
    }
}

/// On which side of the other path each step of the walks of an arrangement lies.
private struct WalkSides {
    enum Side { case inside, outside, border }

    let sides: [[Side]]
    private let arrangement: Arrangement

    /// Of two paths that are cut at each other.
    static func of(_ path: Path, _ other: Path, fillRule: FillRule) -> (Arrangement, WalkSides) {
        unbounded { (budget) throws(CuttingBudget.Exceeded) in
            let arrangement = try Arrangement(
                path, other, closes: (false, false), cutsItself: false, within: &budget)
            return (arrangement, WalkSides(arrangement, try EdgeWindings(arrangement, within: &budget), fillRule))
        }
    }

    private init(_ arrangement: Arrangement, _ windings: EdgeWindings, _ fillRule: FillRule) {
        self.arrangement = arrangement
        sides = arrangement.walks.map { walk in
            let other = 1 - walk.operand
            let rule = other == 1 ? fillRule : .nonzero
            return walk.steps.map { step in
                let edge = arrangement.edges[step.half.edge]
                if edge.isOf.first, edge.isOf.second { return .border }
                return rule.isInside(windings.left[step.half.edge][other]) ? .inside : .outside
            }
        }
    }

    /// What a walk does at the vertex before a step; nil where it stays on the border.
    func passage(_ walk: Int, before step: Int) -> Intersection.Passage? {
        let sides = sides[walk]
        guard arrangement.walks[walk].isClosed || (step > 0 && step < sides.count) else { return .touches }
        switch (sides[(step + sides.count - 1) % sides.count], sides[step % sides.count]) {
        case (.border, .border): return nil
        case (.outside, .inside): return .enters
        case (.inside, .outside): return .leaves
        case (_, .border): return .joinsBorder
        case (.border, _): return .partsFromBorder
        case (.inside, .inside), (.outside, .outside): return .touches
        }
    }

    /// Steps in a row on the same side; those on a path's own border end at each cut.
    func parts(of walk: Int, _ isCutVertex: [Bool]) -> [(side: Side, steps: [Int], isCut: Bool)] {
        let steps = arrangement.walks[walk].steps
        let sides = sides[walk]
        guard !steps.isEmpty else { return [] }
        func begins(_ step: Int) -> Bool {
            let last = (step + steps.count - 1) % steps.count
            return sides[last] != sides[step]
                || (arrangement.walks[walk].operand == 1 && isCutVertex[arrangement.start(of: steps[step].half)])
        }
        let isClosed = arrangement.walks[walk].isClosed
        let first = isClosed ? steps.indices.first(where: begins) : 0
        var parts: [(side: Side, steps: [Int], isCut: Bool)] = []
        for offset in steps.indices {
            let step = (offset + (first ?? 0)) % steps.count
            if parts.isEmpty || begins(step) {
                parts.append((sides[step], [step], first != nil))
            } else {
                parts[parts.count - 1].steps.append(step)
            }
        }
        return parts
    }
}

extension Arrangement {
    /// The vertices of a walk with the step that follows each; the end of an open walk has the number of steps.
    fileprivate func visits(of walk: Walk) -> [(vertex: Int, step: Int)] {
        var visits = walk.steps.enumerated().map { (vertex: start(of: $1.half), step: $0) }
        if !walk.isClosed, let last = walk.steps.last { visits.append((end(of: last.half), walk.steps.count)) }
        return visits
    }

    fileprivate func location(_ walk: Int, _ step: Int) -> Intersection.Location {
        let walk = walks[walk]
        if step < walk.steps.count {
            let at = walk.steps[step]
            return Intersection.Location(contour: walk.contour, segment: at.segment, parameter: at.low)
        }
        let last = walk.steps[walk.steps.count - 1]
        return Intersection.Location(contour: walk.contour, segment: last.segment, parameter: last.high)
    }

    fileprivate func contour(of walk: Walk, _ steps: [Int]) -> Contour {
        contour(
            of: steps.map { walk.steps[$0].half }, closed: false,
            parts: steps.map { step in
                (walk.firstSource + walk.steps[step].segment, walk.steps[step].low, walk.steps[step].high)
            })
    }
}
