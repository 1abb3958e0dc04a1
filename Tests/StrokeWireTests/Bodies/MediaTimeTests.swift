import StrokeWire
import Testing

@Suite struct `Media time` {
    @Test func `stops at the ends of its range`() {
        #expect(MediaTime(milliseconds: Int64.max) == .distantFuture)
        #expect(MediaTime(milliseconds: Int64.min) == .distantPast)
        #expect(MediaTime.distantFuture + 1 == .distantFuture)
        #expect(MediaTime.distantPast + -1 == .distantPast)
        #expect(MediaTime.distantPast - 1 == .distantPast)
        #expect(MediaTime.distantFuture - -1 == .distantFuture)
        #expect(MediaTime.distantFuture - MediaTime.distantPast == .max)
        #expect(MediaTime.distantPast - MediaTime.distantFuture == .min)
    }

    @Test func `counts microseconds`() {
        let time = MediaTime(milliseconds: Int64(1500))
        #expect(time.microseconds == 1_500_000)
        #expect(time + 1 > time && time - 1 < time && (time + 5) - time == 5 && time - (time + 5) == -5)
    }

    @Test(
        arguments: [
            (0.1, 100), (-0.1, -100), (1234.5678, 1_234_568), (1000.0004, 1_000_000),
            (0x1p53, 9_007_199_254_740_992_000),
            (-0x1p53, -9_007_199_254_740_992_000), (2251799813685248.5, 2_251_799_813_685_248_500),
        ] as [(Double, Int64)])
    func `is rounded from milliseconds to the nearest microsecond`(milliseconds: Double, microseconds: Int64) {
        #expect(MediaTime(milliseconds: milliseconds)?.microseconds == microseconds)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 0x1p54, -0x1p54])
    func `is not made from what no clock says`(milliseconds: Double) {
        #expect(MediaTime(milliseconds: milliseconds) == nil)
    }
}
