import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// What one schedule is like.
struct Plan {
    let partitions: Int
    let daemons: Int
    let rooms: [RoomID]
    let cohorts: [CohortName]
    /// How far the video of each cohort is behind the teacher's.
    let delays: [Duration]
    /// Rooms that a daemon has in memory.
    let places: Int
    /// Rooms that may leave memory without keeping their place.
    let departing: Int
    /// Rooms that may be stored of each partition.
    let storedRooms: Int
    let maxHold: Duration
    let history: HistoryConfiguration
    /// Whether clock samples name the encoder's sessions.
    let namesSessions: Bool
    /// Whether lives of rooms are ended.
    let closesRooms: Bool
    /// From then on nothing is written and nothing goes wrong any more.
    let calm: Moment
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
        maxHold = random.milliseconds(5000...12_000)
        history = HistoryConfiguration(
            scope: random.chance(500, in: 1000) ? .room : .author, depth: random.chance(500, in: 1000) ? 4 : 100)
        namesSessions = random.chance(700, in: 1000)
        closesRooms = random.chance(400, in: 1000)
        calm = Moment(nanoseconds: Int64(random.int(12...25)) * 1_000_000_000)
        end = calm + maxHold + .seconds(38)
    }

    var configuration: HostConfiguration {
        var settings = CohortSettings()
        settings.maxHold = maxHold
        return HostConfiguration(
            room: RoomConfiguration(
                history: history, cohorts: CohortsConfiguration(defaults: settings)),
            partitions: partitions,
            checkpoints: CheckpointSchedule(interval: .seconds(4), operations: 24, cursors: .seconds(1), releases: 8),
            idle: .seconds(5), rooms: places, departing: departing, waitingBytes: 2000)
    }
}
