import Dispatch
import Histogram
import Locking

/// Latencies of one kind in an HDR histogram: a microsecond to an hour, each to three digits. Any thread records.
final class LatencyHistogram: Sendable {
    private let histogram = Locked(Histogram<UInt64>(lowestDiscernibleValue: 1, highestTrackableValue: 3_600_000_000))

    /// What came before its time counts as 0.
    func record(nanoseconds: Int64) {
        histogram.withLock { _ = $0.record(UInt64(max(0, nanoseconds) / 1000)) }
    }

    func reset() {
        histogram.withLock { $0.reset() }
    }

    var count: UInt64 { histogram.withLock { $0.totalCount } }

    /// In milliseconds; not a number while it is empty.
    func percentile(_ percentile: Double) -> Double {
        histogram.withLock { $0.totalCount == 0 ? .nan : Double($0.valueAtPercentile(percentile)) / 1000 }
    }

    /// In milliseconds.
    var maximum: Double { percentile(100) }
}

extension BenchReport {
    /// - Parameter goal: the greatest p99 that is good, in milliseconds; nil where there is none.
    mutating func add(_ name: String, _ latencies: LatencyHistogram, p99AtMost goal: Double? = nil) {
        for (label, percentile) in [("p50", 50.0), ("p90", 90), ("p99", 99), ("p99.9", 99.9)] {
            add("\(name): \(label), ms", latencies.percentile(percentile), atMost: percentile == 99 ? goal : nil)
        }
        add("\(name): max, ms", latencies.maximum)
    }
}

/// The clock of all loads, in nanoseconds.
enum LoadClock {
    static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }
}
