/// Says what happens, where one schedule is replayed.
final class Trace {
    let isOn: Bool

    init(isOn: Bool) {
        self.isOn = isOn
    }

    func note(_ text: @autoclosure () -> String, at now: Moment) {
        guard isOn else { return }
        let microseconds = now.nanoseconds / 1000
        let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
        print("\(microseconds / 1_000_000).\(fraction)  \(text())")
    }
}
