#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The process's limit of open files, of which each connection is one.
enum OpenFiles {
    /// Enough for the event streams that a gateway takes, 50,000.
    private static let wanted: rlim_t = 65_536

    /// How many files the process may have open.
    static var limit: Int {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
    }

    /// Raises the limit as far as the process may, up to what is wanted.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
