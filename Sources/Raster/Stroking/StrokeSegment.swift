internal import CLanes
internal import Ink

/// The part of a centre line between two samples: a straight line or a parabola, along which a disc moves while its
/// radius changes linearly.
struct StrokeSegment {
    let start: CentreSample
    let end: CentreSample
    /// The chord from the start to the end, as a unit vector and its length in pixels.
    let direction: SIMD2<Float>
    let length: Float
    /// The tangents at both ends, as unit vectors.
    let startTangent: SIMD2<Float>
    let endTangent: SIMD2<Float>
    /// By how many pixels the radius shrinks a pixel of the way.
    let taper: Float
    /// Where the edges touch the discs.
    let contacts: EdgeContacts

    /// The cosine of the angle of a corner: from there on the outline of a line ends, and another begins.
    static let cornerCosine: Float = 0.6

    /// `nil` where one disc contains the other, or nearly: the segment adds nothing to the larger disc.
    @inline(__always)
    init?(from start: CentreSample, to end: CentreSample, _ tangents: SegmentTangents) {
        let shrinks = start.radius - end.radius
        let length = tangents.length
        guard length > abs(shrinks) * 1.02, length > 1e-3 else { return nil }
        self.start = start
        self.end = end
        self.length = length
        direction = tangents.direction
        startTangent = tangents.startTangent
        endTangent = tangents.endTangent
        taper = shrinks / length
        contacts = tangents.contacts
    }

    var startCentre: SIMD2<Float> { SIMD2(start.x, start.y) }
    var endCentre: SIMD2<Float> { SIMD2(end.x, end.y) }
    /// From the middle of the chord to the middle of the parabola.
    var sag: SIMD2<Float> { SIMD2(end.sagX, end.sagY) }

    @inline(__always)
    var isStraight: Bool { end.sagX == 0 && end.sagY == 0 }

    @inline(__always)
    var maxRadius: Float { start.radius > end.radius ? start.radius : end.radius }
}

/// How far the places where the edges of a segment touch its discs lie from the middles of the discs, in radii.
///
/// With the taper k they lie k ahead, along the tangent, and √(1 − k²) aside of it.
struct EdgeContacts {
    /// At the start, at the end, and in the middle of the segment.
    fileprivate let ahead, aside: SIMD4<Float>

    /// Contacts where the width is constant.
    fileprivate static let level = EdgeContacts(ahead: .zero, aside: SIMD4(repeating: 1))

    @inline(__always) var start: (ahead: Float, aside: Float) { (ahead.x, aside.x) }
    @inline(__always) var end: (ahead: Float, aside: Float) { (ahead.y, aside.y) }
    @inline(__always) var middle: (ahead: Float, aside: Float) { (ahead.z, aside.z) }
}

/// The chord and the tangents of a segment, as unit vectors, and the contacts of its edges.
struct SegmentTangents {
    private let chord, tangents: SIMD4<Float>
    let contacts: EdgeContacts

    /// From the start to the end.
    @inline(__always) var direction: SIMD2<Float> { chord.lowHalf }
    /// The length of the chord in pixels.
    @inline(__always) var length: Float { chord.z }
    @inline(__always) var startTangent: SIMD2<Float> { tangents.lowHalf }
    @inline(__always) var endTangent: SIMD2<Float> { tangents.highHalf }

    /// Those of four segments, computed side by side.
    struct Four {
        private let chords, tangents: lanes_square
        /// Not for constant width.
        private var tapers: lanes_square?

        /// The steepest taper: at 1 one disc would contain the next.
        private static let maxTaper: Float = 0.98

        /// Takes the four segments that end at the samples from `first` on; beyond the last sample they have no length.
        @inline(__always)
        init(_ samples: UnsafeBufferPointer<CentreSample>, from first: Int) {
            let last = samples.count &- 1
            func index(_ offset: Int) -> Int { min(first &+ offset, last) }
            func place(_ index: Int) -> SIMD4<Float> {
                let sample = samples[index]
                return SIMD4(sample.x, sample.y, sample.radius, sample.opacity)
            }
            func sag(_ index: Int) -> SIMD2<Float> { SIMD2(samples[index].sagX, samples[index].sagY) }
            let (one, two, three, four) = (index(0), index(1), index(2), index(3))
            let ends = (place(one), place(two), place(three), place(four))
            let start = lanes_turned(place(first &- 1), ends.0, ends.1, ends.2)
            let end = lanes_turned(ends.0, ends.1, ends.2, ends.3)
            let chordX = end.x - start.x
            let chordY = end.y - start.y
            let low = lanes_pairs(sag(one), sag(two))
            let high = lanes_pairs(sag(three), sag(four))
            let bendX = SIMD4(lowHalf: low.lowHalf, highHalf: high.lowHalf) * 4
            let bendY = SIMD4(lowHalf: low.highHalf, highHalf: high.highHalf) * 4
            let length = lanes_root(chordX * chordX + chordY * chordY)
            let perLength = 1 / length.raised(to: 1e-6)
            let (directionX, directionY) = (chordX * perLength, chordY * perLength)
            /// A unit vector; that of the chord where the tangent has no length.
            func unit(
                _ x: SIMD4<Float>, _ y: SIMD4<Float>
            ) -> (x: SIMD4<Float>, y: SIMD4<Float>, length: SIMD4<Float>) {
                let length = lanes_root(x * x + y * y)
                let perLength = 1 / length.raised(to: 1e-3)
                let isShort = length .<= 1e-3
                return (
                    (x * perLength).replacing(with: directionX, where: isShort),
                    (y * perLength).replacing(with: directionY, where: isShort), length
                )
            }
            let startTangent = unit(chordX + bendX, chordY + bendY)
            let endTangent = unit(chordX - bendX, chordY - bendY)
            chords = lanes_turned(directionX, directionY, length, length)
            tangents = lanes_turned(startTangent.x, startTangent.y, endTangent.x, endTangent.y)
            let shrinks = start.z - end.z
            if any(shrinks .!= 0) {
                let least = shrinks.replacing(with: -shrinks, where: shrinks .< 0) * (1 / Self.maxTaper)
                tapers = lanes_turned(
                    shrinks / startTangent.length.raised(to: least).raised(to: 1e-6),
                    shrinks / endTangent.length.raised(to: least).raised(to: 1e-6),
                    shrinks / length.raised(to: least).raised(to: 1e-6), .zero)
            }
        }

        @inline(__always) var first: SegmentTangents { segment(chords.x, tangents.x, tapers?.x) }
        @inline(__always) var second: SegmentTangents { segment(chords.y, tangents.y, tapers?.y) }
        @inline(__always) var third: SegmentTangents { segment(chords.z, tangents.z, tapers?.z) }
        @inline(__always) var fourth: SegmentTangents { segment(chords.w, tangents.w, tapers?.w) }

        @inline(__always)
        private func segment(
            _ chord: SIMD4<Float>, _ tangents: SIMD4<Float>, _ tapers: SIMD4<Float>?
        ) -> SegmentTangents {
            guard let tapers else { return SegmentTangents(chord: chord, tangents: tangents, contacts: .level) }
            let aside = lanes_root(1 - tapers * tapers)
            return SegmentTangents(
                chord: chord, tangents: tangents, contacts: EdgeContacts(ahead: tapers, aside: aside))
        }
    }
}
