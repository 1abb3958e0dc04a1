extension Subject {
    /// Whether everything that `narrow` matches is matched by `wide`; both may have wildcards.
    static func pattern(_ wide: String, covers narrow: String) -> Bool {
        let wideTokens = wide.split(separator: ".", omittingEmptySubsequences: false)
        let narrowTokens = narrow.split(separator: ".", omittingEmptySubsequences: false)
        for (place, token) in wideTokens.enumerated() {
            guard place < narrowTokens.count else { return false }
            if token == ">" { return true }
            let other = narrowTokens[place]
            guard other == token || (token == "*" && other != ">") else { return false }
        }
        return wideTokens.count == narrowTokens.count
    }
}
