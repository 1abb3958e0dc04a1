#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A value behind a lock: the one kind of lock in the project.
///
/// A plain pthread mutex, because `Synchronization.Mutex` contends badly on Linux and gives the thread sanitizer false
/// races. Hold it for a few instructions; never call out to a handler under it.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// - Returns: the value that the new one replaces.
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }

    /// - Returns: nil if another thread holds the lock.
    package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
