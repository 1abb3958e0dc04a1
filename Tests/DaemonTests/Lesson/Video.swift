import NATSClient

/// What a cohort truly sees: media time runs from the beginning of the lesson, and reaches it later by a delay.
struct Video: Sendable {
    let start: ContinuousClock.Instant
    let delay: Duration

    /// Media time in milliseconds that is on the screen at an instant.
    func time(at instant: ContinuousClock.Instant = .now) -> Double {
        (start.duration(to: instant) - delay) / .milliseconds(1)
    }

    /// Tells the service until cancelled.
    func publish(to subject: String, _ connection: NATSConnection) async {
        var number = 0
        while !Task.isCancelled {
            let time = time()
            if time >= 0 {
                number += 1
                // While there is no connection the service hears nothing, as it would be.
                try? connection.publish(Array(#"{"m":\#(time),"q":\#(number)}"#.utf8), to: subject)
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }
}
