import Foundation
import TestSupport
import Testing

@testable import NATSClient

@Suite struct ServerTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-21T07:07:06.300431443Z", 1_795_244_826_300_431_443),
        ("2026-11-21T07:07:06.3Z", 1_795_244_826_300_000_000),
        ("2026-11-21T09:37:06.3+02:30", 1_795_244_826_300_000_000),
        ("2026-11-20T23:07:06.3-08:00", 1_795_244_826_300_000_000),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2024-02-29T12:00:00Z", 1_709_208_000_000_000_000),
    ])
    func `Times of the server are exact to the nanosecond`(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try ServerTime.parse(text) == nanoseconds)
    }

    @Test func `Every second agrees with Foundation's calendar`() throws {
        var generator = SeededGenerator(seed: TestSeed.choose())
        let format = Date.ISO8601FormatStyle()
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -2_000_000_000...8_000_000_000, using: &generator)
            let text = Date(timeIntervalSince1970: Double(seconds)).formatted(format)
            #expect(try ServerTime.parse(text) == seconds * 1_000_000_000, "\(text)")
        }
    }

    @Test(arguments: [
        "", "now", "2026-11-21", "2026-11-21T07:07:06", "2026-11-21T07:07:06.Z", "2026-11-21T07:07:06.0000000001Z",
        "2026-13-21T07:07:06Z", "2026-11-21T07:07:06Zulu", "2026-11-21T07:07:06+2:00", "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z", "2026-11-21 07:07:06Z",
    ])
    func `What is no time, or none of this age, is an error`(_ text: String) {
        #expect(throws: JetStreamError.malformed("time \(text)")) { try ServerTime.parse(text) }
    }
}
