import Foundation
import TestSupport

/// What happens to the cluster in a part of a trial.
enum TrialPhase: String, Sendable, CaseIterable {
    case quiet
    case delay = "delay and jitter"
    case loss
    case partition = "partition of a minority"
    case daemon = "killed daemon"
    case server = "killed nats-server"
    case gateway = "killed gateway"
}

/// The size of a trial.
struct TrialPlan: Sendable {
    let seed: UInt64
    /// Whether it is of full size, in a network of its own.
    let isFull: Bool
    let rooms: Int
    /// Event streams over HTTP.
    let readers: Int
    let partitions: Int
    let phases: [TrialPhase]
    /// What is killed at once, and started again, when all else is over.
    let restarted: [TrialPart.Kind]
    /// What loses power at once after that, one after the other. Servers lose the ends of their logs, too.
    let powerCuts: [[TrialPart.Kind]]
    /// Duration of each phase.
    let share: Duration
    /// The average interval between a teacher's actions.
    let pace: Duration
    /// Longest delay of a link, in the phase that has one.
    let delay: Duration
    /// Part of the packets that are lost in the phase of losses.
    let loss = 0.01

    /// Every so many rooms, one has a second cohort.
    static let roomsWithTwoCohorts = 10

    /// Whether `make cluster-trial` runs this: its settings are in the environment.
    static var isAsked: Bool { EnvironmentVariable("LECTERN_TRIAL_SECONDS").text != nil }

    /// A few rooms on loopback.
    static func small(seed: UInt64) -> TrialPlan {
        TrialPlan(
            seed: seed, isFull: false, rooms: 6, readers: 8, partitions: 2, phases: [.delay, .daemon],
            restarted: [.daemon, .gateway], powerCuts: [], share: .milliseconds(2000),
            pace: .milliseconds(200), delay: .milliseconds(30))
    }

    /// Of `LECTERN_TRIAL_SECONDS`, `LECTERN_TRIAL_ROOMS`, `LECTERN_TRIAL_READERS` and `LECTERN_TRIAL_RATE`, operations a second
    /// of all teachers together.
    static func full(seed: UInt64) -> TrialPlan {
        func setting(_ name: String, _ usual: UInt64) -> Int {
            Int(EnvironmentVariable("LECTERN_TRIAL_\(name)").number ?? usual)
        }
        let rooms = setting("ROOMS", 1000)
        return TrialPlan(
            seed: seed, isFull: true, rooms: rooms, readers: setting("READERS", 300), partitions: 8,
            phases: TrialPhase.allCases, restarted: TrialPart.Kind.allCases,
            powerCuts: [[.nats], TrialPart.Kind.allCases],
            share: .seconds(setting("SECONDS", 175)) / TrialPhase.allCases.count,
            pace: .seconds(rooms) / setting("RATE", 125), delay: .milliseconds(60))
    }
}
