import Foundation
import Locking
import Metrics

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the process takes of the machine, read at each scrape, and which release it is.
final class ProcessMetrics: Sendable {
    private let cpu = FloatingPointCounter(label: "lectern_process_cpu_seconds_total")
    private let memory = Meter(label: "lectern_process_resident_bytes")
    private let descriptors = Meter(label: "lectern_process_open_files")
    private let descriptorLimit = Meter(label: "lectern_process_max_files")
    private let start = Meter(label: "lectern_process_start_time_seconds")
    /// Processor time that the counter has.
    private let counted = Locked(0.0)

    init() {
        Meter(label: "lectern_build_info", dimensions: [("version", Lectern.version)]).set(1)
        start.set(Date().timeIntervalSince1970.rounded())
    }

    func report() {
        var usage = rusage()
        getrusage(Self.ownUsage, &usage)
        let seconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        cpu.increment(by: seconds - counted.exchange(seconds))
        if let bytes = Self.residentBytes { memory.set(Double(bytes)) }
        if let count = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // One of them is that of the listing itself.
            descriptors.set(Double(count - 1))
        }
        descriptorLimit.set(Double(OpenFiles.limit))
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The second number of `statm`, in pages (proc(5)).
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
            $0 * sysconf(Int32(_SC_PAGESIZE))
        }
    }

    #if canImport(Glibc)
    private static let ownUsage = __rusage_who_t(RUSAGE_SELF.rawValue)
    #else
    private static let ownUsage = RUSAGE_SELF
    #endif
}
