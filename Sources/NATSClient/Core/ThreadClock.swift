internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The processor time of the calling thread.
package enum ThreadClock {
    /// Since the thread began.
    package static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    #if DEBUG
    /// What a handler may take of the shared delivery thread in a debug build; those for release are some ten times faster.
    private static let deliveryLimit = Duration.milliseconds(500)

    /// Ends the program where a handler has computed for long: meanwhile all other subscriptions of the process waited, and the
    /// replies to its requests. Processor time, so that a busy machine does not count.
    static func checkDelivery(since began: Duration, of subscription: OpaquePointer?) {
        let time = now() - began
        guard time > deliveryLimit else { return }
        let subject = natsSubscription_GetSubject(subscription).map { String(cString: $0) } ?? ""
        fatalError("the handler of \(subject) has taken \(time) of the delivery thread that all subscriptions share")
    }
    #endif
}
