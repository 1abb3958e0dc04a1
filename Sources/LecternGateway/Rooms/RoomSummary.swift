internal import StrokeWire

/// A line of the list of rooms, as daemons send it and `GET /api/rooms` passes it on.
struct RoomSummary: Codable, Equatable {
    struct Cohort: Codable, Equatable {
        let cohort: String
        /// The last operation released to it.
        let index: UInt64
        /// Operations that wait for its video.
        let held: Int
        /// Its video's time in milliseconds; nil, and `null` in JSON, while unknown.
        let video: Double?

        enum CodingKeys: String, CodingKey {
            case cohort, index, held
            case video = "v"
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(cohort, forKey: .cohort)
            try container.encode(index, forKey: .index)
            try container.encode(held, forKey: .held)
            try container.encode(video, forKey: .video)
        }
    }

    let room: String
    let address: String
    /// The last operation in the room's log.
    let index: UInt64
    /// Strokes to be seen on its board; nil while the room is asleep: whoever asks for it wakes it.
    let visible: Int?
    let cohorts: [Cohort]
}

/// `{"rooms":[…]}`
struct RoomList: Codable, Equatable {
    let rooms: [RoomSummary]

    /// What several daemons say, as one list by name. Of a room that two of them know, while it changes hands, the
    /// one who is further counts. A line whose name is no room's is left out.
    static func merging(_ lists: [RoomList]) -> RoomList {
        var rooms: [String: RoomSummary] = [:]
        for room in lists.lazy.flatMap(\.rooms) where RoomID(room.room) != nil {
            if let known = rooms[room.room], known.index >= room.index { continue }
            rooms[room.room] = room
        }
        return RoomList(rooms: rooms.values.sorted { $0.room < $1.room })
    }
}
