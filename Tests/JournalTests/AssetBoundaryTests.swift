import Journal
import Testing

@Suite struct AssetBoundaryTests {
    private static let second: Int64 = 1_000_000_000
    private let decidedAt = 1_700_000_000 * second

    @Test func `A record before the decision belongs to the ended life, whatever the clocks say`() {
        for after: UInt64? in [nil, 10, 12] {
            let boundary = AssetBoundary(before: 10, after: after, decidedAt: decidedAt)
            for skew in [-3600, 0, 3600] {
                #expect(boundary.life(sequence: 10, time: decidedAt + Int64(skew) * Self.second) == .ended)
            }
        }
    }

    @Test func `A record after the decision belongs to the next life, whatever the clocks say`() {
        let boundary = AssetBoundary(before: 10, after: 12, decidedAt: decidedAt)
        for skew in [-3600, 0, 3600] {
            let time = decidedAt + Int64(skew) * Self.second
            #expect(boundary.life(sequence: 11, time: time) == .unclear)
            #expect(boundary.life(sequence: 12, time: time) == .unclear)
            #expect(boundary.life(sequence: 13, time: time) == .next)
        }
    }

    @Test func `For a later attempt what came within a minute of the decision is unclear`() {
        let boundary = AssetBoundary(before: 10, after: nil, decidedAt: decidedAt)
        for (seconds, life) in [(-1, AssetBoundary.Life.unclear), (0, .unclear), (60, .unclear), (61, .next)] {
            #expect(boundary.life(sequence: 11, time: decidedAt + Int64(seconds) * Self.second) == life)
        }
    }
}
