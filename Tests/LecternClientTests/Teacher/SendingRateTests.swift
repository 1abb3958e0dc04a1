import Testing

@testable import LecternClient

@Suite("A teacher's sending rate")
struct SendingRateTests {
    /// Sends as fast as it is let.
    private func times(of sizes: [Int], pausing: Duration = .zero) -> [(time: Duration, bytes: Int)] {
        var rate = SendingRate()
        var now = Duration.zero
        return sizes.map { bytes in
            now = max(now + pausing, rate.earliest)
            rate.take(bytes: bytes, at: now)
            return (now, bytes)
        }
    }

    @Test("is never above 200 messages or 1 MiB in any second", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func limits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let sizes = (0..<3000).map { _ in
            Int.random(in: 0..<10, using: &random) == 0
                ? Int.random(in: 1...262_144, using: &random) : Int.random(in: 20...4000, using: &random)
        }
        let sent = times(of: sizes)
        var first = 0
        var bytes = 0
        for (index, message) in sent.enumerated() {
            bytes += message.bytes
            while sent[first].time <= message.time - .seconds(1) {
                bytes -= sent[first].bytes
                first += 1
            }
            #expect(index - first + 1 <= 200)
            #expect(bytes <= 1 << 20)
        }
    }

    @Test("lets small messages through at 180 a second, and large ones at 640 KiB")
    func throughput() {
        let small = times(of: Array(repeating: 100, count: 1820))
        #expect(small[1819].time <= .seconds(10.01))
        let large = times(of: Array(repeating: 65_536, count: 102))
        #expect(large[101].time <= .seconds(10.1))
    }

    @Test("does not hold back who writes by hand")
    func unhurried() {
        let sent = times(of: Array(repeating: 3000, count: 200), pausing: .milliseconds(20))
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.time - $0.time == .milliseconds(20) })
    }
}
