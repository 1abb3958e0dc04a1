import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// The random choices of one schedule.
struct Plan {
    let partitions, daemons: Int
    let rooms: [RoomID]
    let cohorts: [CohortName]
    /// Delay of each cohort's video.
    let delays: [Duration]
    /// Most rooms that a daemon has in memory.
    let places: Int
    /// Most rooms on their way out of memory that take no place in it.
    let departing: Int
    /// Most rooms that are stored of each partition.
    let storedRooms: Int
    let history: HistoryConfiguration
    /// What cohorts have where they have nothing of their own.
    let defaults: CohortSettings
    /// The settings of cohorts that have their own.
    let named: [CohortName: CohortSettings]
    /// Whether clock samples name the encoder's sessions.
    let namesSessions: Bool
    /// Whether encoders restart that do not name their sessions.
    let restartsUnnamed: Bool
    /// Whether clock samples tell how far the video is behind the teacher.
    let tellsAge: Bool
    let closesRooms: Bool
    /// Whether the rooms are moved to another number of partitions.
    let movesRooms: Bool
    /// Whether records are deleted that checkpoints hold. Damaged checkpoints would need them.
    let trimsLogs: Bool
    /// Whether records expire that no checkpoint holds and nobody has read.
    let expiresRecords: Bool
    /// From then on nothing fails any more.
    let calm: Moment
    /// Bytes of a record of notes, at most.
    let recordBytes: Int
    let end: Moment

    init(_ random: inout SeededGenerator) {
        partitions = random.int(1...2)
        daemons = random.chance(250, in: 1000) ? 3 : 2
        rooms = ["algebra", "botany", "chemistry"].prefix(random.int(1...3)).compactMap { RoomID($0) }
        cohorts = [.main] + (random.chance(700, in: 1000) ? [CohortName("slow")].compactMap(\.self) : [])
        delays = [random.milliseconds(100...800), random.milliseconds(2000...7000)]
        places = random.chance(400, in: 1000) ? random.int(1...2) : 100
        departing = random.int(0...2)
        storedRooms = random.chance(200, in: 1000) ? random.int(1...2) : 100
        var settings = CohortSettings()
        settings.maxHold = random.milliseconds(5000...12_000)
        defaults = settings
        history = HistoryConfiguration(
            scope: random.chance(500, in: 1000) ? .room : .author, depth: random.chance(500, in: 1000) ? 4 : 100)
        namesSessions = random.chance(700, in: 1000)
        // Where the owner changes between the restarts that two cohorts see, the new one takes the first cohort's new time line for
        // the old one, or the second one's old time line for the new one: no sample tells.
        restartsUnnamed = !namesSessions && random.chance(600, in: 1000) && cohorts.count == 1
        // A cohort that is first heard after such a restart is taken to be in the session before. Where nothing goes out late,
        // its ink of the new session waits for ever.
        // Freerun believes the last sample for as long as a process stands still; those that have come meanwhile, without names,
        // are taken for a restart then.
        let policies: [CohortSettings.Policy] =
            namesSessions
            ? [.maxhold, .maxhold, .hold, .freerun] : restartsUnnamed ? [.maxhold] : [.maxhold, .maxhold, .hold]
        named = Self.named(cohorts, settings, policies, &random)
        tellsAge = random.chance(500, in: 1000)
        // In another life sessions without names are counted from the one that is there.
        closesRooms = !restartsUnnamed && random.chance(400, in: 1000)
        trimsLogs = random.chance(300, in: 1000)
        recordBytes = random.pick([1500, 4000, 1 << 19])
        calm = Moment(nanoseconds: Int64(random.int(12...25)) * 1_000_000_000)
        // Where nothing goes out late, the video has to come to what was drawn before a restart.
        let holds = named.values.contains { $0.gate != .none && $0.policy != .maxhold }
        end = calm + .seconds(holds && namesSessions ? 150 : 50)
        // Records that a log has lost are not moved, and the models need them; a refusal counts records.
        var choice = random
        movesRooms = !trimsLogs && storedRooms >= rooms.count && choice.chance(150, in: 1000)
        expiresRecords = !movesRooms && storedRooms >= rooms.count && choice.chance(150, in: 1000)
    }

    /// Cohorts whose strokes grow, and cohorts with a policy of their own.
    private static func named(
        _ cohorts: [CohortName], _ defaults: CohortSettings, _ policies: [CohortSettings.Policy],
        _ random: inout SeededGenerator
    ) -> [CohortName: CohortSettings] {
        var named: [CohortName: CohortSettings] = [:]
        for cohort in cohorts {
            var settings = defaults
            if random.chance(600, in: 1000) { settings.ink = .progressive }
            if random.chance(400, in: 1000) {
                settings.gate = random.pick([.video, .video, .auto, .none])
                settings.policy = random.pick(policies)
                settings.maxHold = random.milliseconds(4000...12_000)
                settings.extrapolate = random.chance(800, in: 1000)
            }
            if settings != defaults { named[cohort] = settings }
        }
        return named
    }

    func settings(of cohort: CohortName) -> CohortSettings { named[cohort] ?? defaults }

    func configuration(partitions: Int) -> HostConfiguration {
        HostConfiguration(
            room: RoomConfiguration(
                history: history,
                cohorts: CohortsConfiguration(defaults: defaults, named: named)),
            partitions: partitions,
            checkpoints: CheckpointSchedule(interval: .seconds(4), operations: 24, cursors: .seconds(1), releases: 8),
            idle: .seconds(5), rooms: places, departing: departing, waitingBytes: 2000)
    }
}
