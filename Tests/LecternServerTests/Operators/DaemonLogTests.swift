import Foundation
import Logging
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct DaemonLogTests {
    private static func event(_ message: Logger.Message, _ level: Logger.Level = .warning) -> LogEvent {
        LogEvent(
            level: level, message: message, metadata: nil, source: "Lectern", file: "a.swift", function: "f", line: 1)
    }

    @Test func `a JSON line has its fields in their order, and escapes what clients may have sent`() throws {
        let line = LogLine.json(
            Self.event("a \"quote\""), ["room": "one\ntwo", "list": ["a", "b"], "inner": ["key": "value"]],
            at: Date(timeIntervalSince1970: 1.125))
        #expect(line.last == UInt8(ascii: "\n") && line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(
            String(decoding: line.dropLast(), as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:01.125Z","level":"warning","source":"Lectern","message":"a \"quote\"","#
                + #""fields":{"inner":{"key":"value"},"list":["a","b"],"room":"one\u000atwo"}}"#)
        _ = try JSONSerialization.jsonObject(with: Data(line))
    }

    @Test func `a repeated line is left out for a minute, and the next one tells how often`() {
        var filter = IncidentFilter()
        let start = Instant(nanoseconds: 0)
        #expect(filter.add("down", at: "a:1", start) == 0)
        for second in 1..<60 { #expect(filter.add("down", at: "a:1", start + .seconds(second)) == nil) }
        #expect(filter.add("down", at: "b:1", start + .seconds(59)) == 0)
        #expect(filter.add("down", at: "a:1", start + .seconds(60)) == 59)
        #expect(filter.add("up", at: "a:1", start + .seconds(60)) == 0)
        #expect(filter.add("down", at: "a:1", start + .seconds(61)) == 0)
    }

    @Test func `a place in the program logs at most ten lines in ten seconds, whatever they say`() {
        var filter = IncidentFilter()
        var passed = 0
        for number in 0..<1000 {
            let now = Instant(nanoseconds: 0) + .milliseconds(20 * number)
            if filter.add("room \(number)", at: "a:1", now) != nil { passed += 1 }
        }
        #expect(passed == 20)
        #expect(filter.add("room x", at: "a:1", Instant(nanoseconds: 0) + .seconds(30)) == 490)
    }

    @Test func `a level that is raised later holds for loggers made before`() {
        let log = DaemonLog(.json, level: .error)
        var logger = Logger(label: "test") { log.handler(label: $0) }
        #expect(logger.logLevel == .error)
        log.level = .debug
        #expect(logger.logLevel == .debug)
        logger.logLevel = .notice
        #expect(logger.logLevel == .notice)
        log.level = .critical
        #expect(logger.logLevel == .critical)
    }
}
