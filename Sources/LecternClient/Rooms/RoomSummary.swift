internal import StrokeWire

/// What a service says of a room.
public struct RoomSummary: Sendable, Equatable, Codable {
    /// Where a cohort of the room is.
    public struct Cohort: Sendable, Equatable, Codable {
        /// Its name.
        public let cohort: String
        /// The last operation released to it.
        public let index: UInt64
        /// Operations that wait for its video.
        public let held: Int
        /// Its video's time in milliseconds; nil while unknown.
        public let video: Double?

        enum CodingKeys: String, CodingKey {
            case cohort, index, held
            case video = "v"
        }
    }

    /// The room's name.
    public let room: String
    /// What its subjects begin with.
    public let address: String
    /// Which life of the room it is.
    public let incarnation: String?
    /// The last operation in its log.
    public let index: UInt64
    /// Strokes to be seen on its board; nil for a room that is not in the service's memory.
    public let visible: Int?
    /// Authors it remembers; nil, or 0, for a room that is not in the service's memory.
    public let authors: Int?
    /// Whether it has left the service's memory; nil: no.
    public let asleep: Bool?
    /// Its cohorts.
    public let cohorts: [Cohort]
}

extension RoomSummary {
    /// Whether all names in it are names: what comes from elsewhere is shown on terminals.
    var isWellNamed: Bool {
        RoomID(room) != nil && cohorts.allSatisfy { CohortName($0.cohort) != nil }
            && address.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }

    /// What several services say, by name. Of a room that two of them know, while it changes hands, the one who is
    /// further counts; of two who are as far, the one who has it in memory.
    static func merging(_ lists: [[RoomSummary]]) -> [RoomSummary] {
        var rooms: [String: RoomSummary] = [:]
        for summary in lists.joined() where summary.isWellNamed {
            if let known = rooms[summary.room], !summary.isBetter(than: known) { continue }
            rooms[summary.room] = summary
        }
        return rooms.values.sorted { $0.room < $1.room }
    }

    private func isBetter(than other: RoomSummary) -> Bool {
        (index, asleep == true ? 0 : 1) > (other.index, other.asleep == true ? 0 : 1)
    }
}
