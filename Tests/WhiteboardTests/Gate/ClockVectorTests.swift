import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// The protocol's test vectors of video clocks: samples and operations, and what goes out when.
@Suite struct `The protocol's test vectors of clocks` {
    @Test func `release what is stated, at the stated times`() throws {
        for vector in try ProtocolVectors.cases("clocks.json", of: ClockVector.self, atLeast: 30) {
            var room = VirtualRoom(try vector.settings?.cohorts() ?? CohortSettings())
            let start = room.now
            for step in vector.steps {
                room.wait(start + .milliseconds(step.at) - room.now)
                let cohort = try #require(CohortName(step.cohort ?? "main"))
                if let operation = step.operation { room.log(operation.t) }
                if let sample = step.sample {
                    let outcome = room.receive(try sample.decoded(), cohort)
                    if let then = step.then {
                        #expect(ClockVector.name(of: outcome) == then, "\(vector.name), \(step.at) ms")
                    }
                }
                if let video = step.v { #expect(room.video(cohort) == video, "\(vector.name), \(step.at) ms") }
            }
            room.wait(start + .milliseconds(vector.until) - room.now)
            let released = room.releases.map { release in
                ClockVector.Released(
                    at: Int((release.due - start) / .milliseconds(1)), index: release.index,
                    cohort: release.cohort == .main ? nil : release.cohort.text, late: release.isLate ? true : nil)
            }
            #expect(released == vector.released, "\(vector.name)")
        }
    }
}

private struct ClockVector: Decodable {
    struct Settings: Decodable {
        let policy: String?
        let gate: String?
        let extrapolate: Bool?

        func cohorts() throws -> CohortSettings {
            var settings = CohortSettings()
            if let policy { settings.policy = try #require(CohortSettings.Policy(rawValue: policy)) }
            if let gate { settings.gate = try #require(CohortSettings.Gating(rawValue: gate)) }
            if let extrapolate { settings.extrapolate = extrapolate }
            return settings
        }
    }

    struct Operation: Decodable {
        let t: Int64?
    }

    struct Sample: Decodable {
        let m: Double
        let q: Int64?
        let ep: Int64?
        let r: Int?
        let s: String?
        let st: String?
        let d: Bool?
        let b: Int?

        func decoded() throws -> ClockSample {
            ClockSample(
                media: try #require(MediaTime(milliseconds: m)), number: q, epoch: ep, rate: r ?? 1000,
                state: try #require(ClockSample.State(rawValue: s ?? "play")), stream: st ?? "",
                isDiscontinuity: d ?? false, wrapBits: b)
        }
    }

    struct Step: Decodable {
        let at: Int
        let cohort: String?
        let operation: Operation?
        let sample: Sample?
        let then: String?
        let v: Double?
    }

    struct Released: Decodable, Equatable {
        let at: Int
        let index: UInt64
        let cohort: String?
        let late: Bool?
    }

    let name: String
    let settings: Settings?
    let steps: [Step]
    let until: Int
    let released: [Released]

    static func name(of outcome: ClockOutcome) -> String {
        switch outcome {
        case .taken, .newEpochs, .awaitingEpoch: "taken"
        case .candidate: "doubted"
        case .ignored, .unknownCohort, .tooManyCohorts: "ignored"
        }
    }
}
