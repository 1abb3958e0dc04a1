import Foundation

/// How often a test does its worst: a few times, unless LECTERN_ROUNDS says otherwise.
func rounds(_ few: Int) -> Int {
    ProcessInfo.processInfo.environment["LECTERN_ROUNDS"].flatMap(Int.init) ?? few
}

/// Whether there is time for the long versions of tests.
var isThorough: Bool { ProcessInfo.processInfo.environment["LECTERN_ROUNDS"] != nil }
