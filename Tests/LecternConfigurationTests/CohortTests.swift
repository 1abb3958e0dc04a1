import LecternConfiguration
import StrokeWire
import Testing
import Whiteboard

@Suite("Cohorts by name") struct CohortTests {
    let hls: CohortName
    let rtc: CohortName

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

    @Test("A cohort takes from the default what it leaves out, wherever in the file that stands")
    func inheritance() throws {
        let cohorts = try load(file: Self.file).cohorts
        let expected = CohortSettings(policy: .hold, staleAfter: .seconds(5))
        #expect(cohorts.defaults == expected)
        #expect(
            cohorts.named == [
                hls: CohortSettings(policy: .hold, maxHold: .seconds(60), staleAfter: .seconds(5)), rtc: expected,
            ])
    }

    @Test("A cohort takes the default that is in force, from any source")
    func inheritanceAcrossSources() throws {
        let cohorts = try load(file: Self.file, environment: ["LECTERN_COHORTS_DEFAULT_POLICY": "freerun"]).cohorts
        #expect(cohorts.named[hls]?.policy == .freerun)
    }

    @Test("A variable changes a cohort that is there")
    func variable() throws {
        let environment = ["LECTERN_COHORTS_WEB_RTC_GATE": "none", "LECTERN_COHORTS_HLS_MAX_HOLD": "5s"]
        let cohorts = try load(file: Self.file, environment: environment).cohorts
        #expect(cohorts.named[rtc]?.gate == CohortSettings.Gating.none)
        #expect(cohorts.named[hls]?.gate == .video)
        #expect(cohorts.named[hls]?.maxHold == .seconds(5))
    }

    @Test("A variable makes no cohort")
    func variableAlone() throws {
        let faults = try messages(environment: ["LECTERN_COHORTS_HLS_MAX_HOLD": "5s"])
        #expect(
            faults == ["LECTERN_COHORTS_HLS_MAX_HOLD: unknown variable; did you mean LECTERN_COHORTS_DEFAULT_MAX_HOLD?"]
        )
    }

    @Test("An argument makes a cohort")
    func argument() throws {
        let configuration = try DaemonConfiguration.load(file: nil, arguments: ["cohorts.hls.max_hold": "5s"])
        #expect(configuration.cohorts.named == [hls: CohortSettings(maxHold: .seconds(5))])
    }

    @Test("A bad value of a cohort is refused like any")
    func badValue() throws {
        let file = "cohorts:\n  hls:\n    max_hold: 25h"
        #expect(try messages(file: file) == [#"FILE:3: cohorts.hls.max_hold: "25h" is out of range (0s … 1d)"#])
    }

    @Test(
        "Of a key about a cohort that is wrong: the name or the setting, whichever it is",
        arguments: [
            ("cohorts.x.bogus", "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate"),
            ("cohorts.x", "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate"),
            ("cohorts.default.bogus", "unknown key; a cohort has gate, policy, max_hold, stale_after, extrapolate"),
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

    @Test("The words of the section are no cohort names", arguments: ["open", "maximum"])
    func reserved(word: String) throws {
        #expect(
            try messages(file: "cohorts:\n  \(word):\n    gate: none").first
                == "FILE:2: cohorts.\(word): must be a single value")
        #expect(try messages(arguments: ["cohorts.\(word).gate": "none"]).count == 1)
    }
}
