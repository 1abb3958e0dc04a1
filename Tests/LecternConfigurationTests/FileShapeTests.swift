import Foundation
import LecternConfiguration
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct `The shape of the file` {
    @Test(arguments: [
        (
            "limits:\n  mesage_bytes: 1KiB",
            "FILE:2: limits.mesage_bytes: unknown key; did you mean limits.message_bytes?"
        ),
        (
            "limits:\n  message-bytes: 1KiB",
            "FILE:2: limits.message-bytes: unknown key; did you mean limits.message_bytes?"
        ),
        ("Limits:\n  shards: 5", "FILE:1: Limits: unknown key; did you mean limits?"),
        ("color: rgb", "FILE:1: color: unknown key; did you mean colour?"),
        ("message_bytes: 1KiB", "FILE:1: message_bytes: unknown key; did you mean limits.message_bytes?"),
        ("shard: 5", "FILE:1: shard: unknown key; did you mean limits.shards?"),
        ("server:\n  shards: 5", "FILE:2: server.shards: unknown key; did you mean limits.shards?"),
        ("video:\n  codec: h264", "FILE:1: video: unknown key"),
        ("limits:\n  shards:\n    most: 5", "FILE:2: limits.shards: must be a single value"),
        (
            "cohorts:\n  hls:\n    max_hodl: 5s",
            "FILE:3: cohorts.hls.max_hodl: unknown key; did you mean cohorts.hls.max_hold?"
        ),
        (
            "cohorts:\n  HLS:\n    max_hold: 5s",
            "FILE:2: cohorts.HLS: unknown key; a cohort name is 1 … 64 characters of a-z, 0-9, _ and -"
        ),
        ("cohorts:\n  hls:\n    max_hold:\n      now: 5s", "FILE:3: cohorts.hls.max_hold: must be a single value"),
        ("cohorts:\n  hls.gate.x: none", "FILE:2: cohorts.hls.gate.x: unknown key; did you mean cohorts.hls.gate?"),
    ])
    func `An unknown key is refused with its line and the nearest known one`(contents: String, message: String) throws {
        #expect(try messages(file: contents) == [message])
    }

    @Test(arguments: [
        ("limits: 5", "FILE:1: limits: has no value of its own; its keys go below it, indented"),
        ("limits: [5]", "FILE:1: limits: has no value of its own; its keys go below it, indented"),
        ("cohorts:\n  hls: 5", "FILE:2: cohorts.hls: has no value of its own; its keys go below it, indented"),
        ("limits:\n  shards: [5]", "FILE:2: limits.shards: must be a single value"),
        ("limits:\n  shards:", "FILE:2: limits.shards: has no value"),
        ("nats:\n  credentials: ~", "FILE:2: nats.credentials: has no value"),
        ("palette: '#000000'", "FILE:1: palette: must be a list of single values"),
        ("palette: [[a]]", "FILE:1: palette: must be a list of single values"),
        ("palette: [{a: b}]", "FILE:1: palette: must be a list of single values"),
        ("palette: []", "FILE:1: palette: a palette has 1 … 256 colours, not 0"),
        (
            "palette:\n- #000000\n- #ffffff",
            ##"FILE:1: palette: "" must be a colour, written "#rrggbb", in quotes in the file"##
        ),
        ("limits:\n  shards: 5\nlimits.shards: 6", "FILE:3: limits.shards: is given twice"),
        ("limits:\n  shards: 5\n  held: 5\n  shards: 6", "FILE:2: has a key more than once: shards"),
        ("[a, b]", #"FILE:1: the file: must be a mapping, as in "limits:" with "shards: 1024" below"#),
        ("? [a]\n: b", "FILE:1: a key: keys must be plain words"),
    ]) func `A value of the wrong shape is refused with its line`(contents: String, message: String) throws {
        #expect(try messages(file: contents) == [message])
    }

    @Test(arguments: ["limits: {shards: 5", "limits:\n\tshards: 5", "a: b: c", "--- 1\n--- 2", "limits: *nowhere"])
    func `A file that is not YAML is refused with its place`(contents: String) throws {
        let faults = try messages(file: contents)
        #expect(faults.count == 1)
        #expect(faults.first?.contains(/^FILE:[0-9]+:[0-9]+: is not YAML: [^\n]+$/) == true, "\(faults)")
    }

    @Test func `A file that is not there is refused`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try DaemonConfiguration.load(file: "/nowhere/lectern.yaml", arguments: ["log.tail": "x"])
        }
        #expect(error?.faults.count == 2)
        #expect(error?.description.hasPrefix("/nowhere/lectern.yaml: there is no such file\n") == true)
    }

    @Test func `A directory is refused`() throws {
        let path = FileManager.default.temporaryDirectory.path
        let error = #expect(throws: ConfigurationError.self) { try DaemonConfiguration.load(file: path) }
        #expect(error?.description == "\(path): cannot be read")
    }

    @Test func `Random damage to a file ends in a configuration or in faults`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let sound = Array(
            "limits:\n  shards: 5\ncohorts:\n  hls:\n    gate: none\npalette: [\"#000000\"]\nhttp:\n  listen: off\n"
                .utf8)
        let letters = Array("\n\t :-[]{}'\"#&*!|>%@`,?~0az\u{7f}".utf8) + [0, 0xff]
        var refused = 0
        for _ in 0..<300 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = letters.randomElement(using: &random) ?? 0
                default: bytes.insert(letters.randomElement(using: &random) ?? 0, at: place)
                }
            }
            do {
                _ = try withFile(bytes) { try DaemonConfiguration.load(file: $0) }
            } catch let error as ConfigurationError {
                refused += 1
                #expect(!error.faults.isEmpty)
                #expect(error.faults.allSatisfy { !$0.message.isEmpty && !$0.origin.isEmpty })
            }
        }
        #expect(refused > 30)
    }
}

extension DaemonConfiguration {
    /// The settings in force.
    static func load(
        file path: String?, environment: [String: String] = [:], arguments: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        try LoadedConfiguration(file: path, environment: environment, arguments: arguments).configuration
    }
}

/// What `load` says is wrong, a line for each fault, with `FILE` for the file's path; empty when nothing is.
func messages(
    file: String? = nil, environment: [String: String] = [:], arguments: [String: String] = [:]
) throws -> [String] {
    func load(_ path: String?) -> [String] {
        do throws(ConfigurationError) {
            _ = try DaemonConfiguration.load(file: path, environment: environment, arguments: arguments)
            return []
        } catch {
            return error.faults.map { fault in
                path.map { fault.description.replacing($0, with: "FILE") } ?? fault.description
            }
        }
    }
    guard let file else { return load(nil) }
    return try withFile(Array(file.utf8), load)
}

/// The configuration of a file with these contents.
func load(
    file: String, environment: [String: String] = [:], arguments: [String: String] = [:]
) throws -> DaemonConfiguration {
    try withFile(Array(file.utf8)) {
        try DaemonConfiguration.load(file: $0, environment: environment, arguments: arguments)
    }
}

/// Hands a file with some contents to a body, and removes it afterwards.
func withFile<Result>(_ contents: [UInt8], _ body: (_ path: String) throws -> Result) throws -> Result {
    let file = FileManager.default.temporaryDirectory.appending(path: "lectern-\(UUID().uuidString).yaml")
    try Data(contents).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path)
}

@Suite struct `Cohorts by name` {
    let hls, rtc: CohortName

    init() throws {
        hls = try #require(CohortName("hls"))
        rtc = try #require(CohortName("web-rtc"))
    }

    static let file = """
        cohorts:
          hls:
            max_hold: 60s
          web-rtc:
          default:
            policy: hold
            stale_after: 5s
        """

    @Test func `A cohort takes from the default what it leaves out, wherever in the file that stands`() throws {
        let cohorts = try load(file: Self.file).cohorts
        let expected = CohortSettings(gate: .auto, policy: .hold, staleAfter: .seconds(5))
        #expect(cohorts.defaults == expected)
        #expect(
            cohorts.named == [
                hls: CohortSettings(gate: .auto, policy: .hold, maxHold: .seconds(60), staleAfter: .seconds(5)),
                rtc: expected,
            ])
    }

    @Test func `A cohort takes the default that is in force, from any source`() throws {
        let cohorts = try load(file: Self.file, environment: ["LECTERN_COHORTS_DEFAULT_POLICY": "freerun"]).cohorts
        #expect(cohorts.named[hls]?.policy == .freerun)
    }

    @Test func `A variable changes a cohort that is there`() throws {
        let environment = ["LECTERN_COHORTS_WEB_RTC_GATE": "none", "LECTERN_COHORTS_HLS_MAX_HOLD": "5s"]
        let cohorts = try load(file: Self.file, environment: environment).cohorts
        #expect(cohorts.named[rtc]?.gate == CohortSettings.Gating.none)
        #expect(cohorts.named[hls]?.gate == .auto)
        #expect(cohorts.named[hls]?.maxHold == .seconds(5))
    }

    @Test func `A variable makes no cohort`() throws {
        let faults = try messages(environment: ["LECTERN_COHORTS_HLS_MAX_HOLD": "5s"])
        #expect(
            faults == ["LECTERN_COHORTS_HLS_MAX_HOLD: unknown variable; did you mean LECTERN_COHORTS_DEFAULT_MAX_HOLD?"]
        )
    }

    @Test func `An argument makes a cohort`() throws {
        let configuration = try DaemonConfiguration.load(file: nil, arguments: ["cohorts.hls.max_hold": "5s"])
        #expect(configuration.cohorts.named == [hls: CohortSettings(gate: .auto, maxHold: .seconds(5))])
    }

    @Test func `A bad value of a cohort is refused like any`() throws {
        let file = "cohorts:\n  hls:\n    max_hold: 25h"
        #expect(try messages(file: file) == [#"FILE:3: cohorts.hls.max_hold: "25h" is out of range (0s … 1d)"#])
    }

    @Test(
        "Of a key about a cohort that is wrong: the name or the setting, whichever it is",
        arguments: [
            (
                "cohorts.x.bogus",
                "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate, encoding, ink"
            ),
            ("cohorts.x", "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate, encoding, ink"),
            (
                "cohorts.default.bogus",
                "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate, encoding, ink"
            ),
            ("cohorts.x.gaet", "unknown key; did you mean cohorts.x.gate?"),
            ("cohorts.UPPER.gate", "unknown key; a cohort name is 1 … 64 characters of a-z, 0-9, _ and -"),
            ("cohorts..gate", "unknown key; a cohort name is 1 … 64 characters of a-z, 0-9, _ and -"),
            ("cohorts.open.gate", "unknown key; open is not a cohort name: cohorts.open is a setting"),
            ("cohorts.maximum.gate", "unknown key; maximum is not a cohort name: cohorts.maximum is a setting"),
            ("cohorts.Default.gate", "unknown key; did you mean cohorts.default.gate?"),
            ("cohorts.opne", "unknown key; did you mean cohorts.open?"),
            ("cohorts.Open", "unknown key; did you mean cohorts.open?"),
            ("cohorts.default", "has no value of its own; set a key below it"),
            ("cohorts", "has no value of its own; set a key below it"),
        ])
    func wrongKey(key: String, message: String) throws {
        #expect(try messages(arguments: [key: "none"]) == ["argument \(key): \(message)"])
    }

    @Test(arguments: ["open", "maximum"]) func `The words of the section are no cohort names`(word: String) throws {
        #expect(
            try messages(file: "cohorts:\n  \(word):\n    gate: none").first
                == "FILE:2: cohorts.\(word): must be a single value")
        #expect(try messages(arguments: ["cohorts.\(word).gate": "none"]).count == 1)
    }
}
