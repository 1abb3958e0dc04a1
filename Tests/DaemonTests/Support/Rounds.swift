import TestSupport

/// How often a test does its worst: a few times, unless LECTERN_ROUNDS says otherwise.
func rounds(_ few: Int) -> Int { asked.map(Int.init) ?? few }

/// Whether there is time for the long versions of tests.
var isThorough: Bool { asked != nil }

private let asked = EnvironmentVariable("LECTERN_ROUNDS").number
