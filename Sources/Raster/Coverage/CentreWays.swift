internal import CLanes
internal import Ink

/// Where four pieces of a centre line lead, worked out side by side.
struct CentreWays {
    private let chords, tangents: lanes_square

    /// Where a piece leads: the unit vectors from its start to its end and of the direction of travel at both.
    struct Way {
        fileprivate let chord, tangents: SIMD4<Float>

        @inline(__always) var direction: SIMD2<Float> { chord.lowHalf }
        /// From the start to the end, in pixels.
        @inline(__always) var length: Float { chord.z }
        @inline(__always) var leaving: SIMD2<Float> { tangents.lowHalf }
        @inline(__always) var arriving: SIMD2<Float> { tangents.highHalf }
    }

    /// Takes the four pieces that end at the samples from one on; behind the last sample it stays where it is.
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
        let wayX = end.x - start.x
        let wayY = end.y - start.y
        let low = lanes_pairs(sag(one), sag(two))
        let high = lanes_pairs(sag(three), sag(four))
        let bendX = SIMD4(lowHalf: low.lowHalf, highHalf: high.lowHalf) * 4
        let bendY = SIMD4(lowHalf: low.highHalf, highHalf: high.highHalf) * 4
        let length = lanes_root(wayX * wayX + wayY * wayY)
        let perLength = 1 / length.raised(to: 1e-6)
        let (directionX, directionY) = (wayX * perLength, wayY * perLength)
        /// A unit vector; the way's own where there is none.
        func unit(_ x: SIMD4<Float>, _ y: SIMD4<Float>) -> (x: SIMD4<Float>, y: SIMD4<Float>) {
            let length = lanes_root(x * x + y * y)
            let perLength = 1 / length.raised(to: 1e-3)
            let isShort = length .<= 1e-3
            return (
                (x * perLength).replacing(with: directionX, where: isShort),
                (y * perLength).replacing(with: directionY, where: isShort)
            )
        }
        let leaving = unit(wayX + bendX, wayY + bendY)
        let arriving = unit(wayX - bendX, wayY - bendY)
        chords = lanes_turned(directionX, directionY, length, length)
        tangents = lanes_turned(leaving.x, leaving.y, arriving.x, arriving.y)
    }

    @inline(__always) var first: Way { Way(chord: chords.x, tangents: tangents.x) }
    @inline(__always) var second: Way { Way(chord: chords.y, tangents: tangents.y) }
    @inline(__always) var third: Way { Way(chord: chords.z, tangents: tangents.z) }
    @inline(__always) var fourth: Way { Way(chord: chords.w, tangents: tangents.w) }
}
