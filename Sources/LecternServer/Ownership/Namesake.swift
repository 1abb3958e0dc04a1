/// Tells this process from another that was given the same name.
struct Namesake: Sendable {
    /// The header of an announcement that says which process it comes from.
    static let header = "Ink-Run"

    /// This process.
    let run = String(UInt64.random(in: .min ... .max), radix: 36)
    private var isKnown = false

    /// An announcement under this daemon's name was heard.
    /// - Parameter run: its process, nil where it did not say.
    /// - Returns: whether it is another's, for the first time.
    mutating func isNoticed(run: String?) -> Bool {
        guard let run, run != self.run, !isKnown else { return false }
        isKnown = true
        return true
    }
}
