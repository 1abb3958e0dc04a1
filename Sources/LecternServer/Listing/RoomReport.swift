import Foundation
import Hosting
import StrokeWire
import Whiteboard

/// The JSON on one room that `<address>.info` and `<root>.rooms` answer.
struct RoomReport: Sendable, Encodable {
    struct Size: Sendable, Encodable {
        let w: Double
        let h: Double
    }

    struct Cohort: Sendable, Encodable {
        let cohort: String
        let index: UInt64
        let held: Int
        /// Video time in milliseconds, null while unknown.
        let v: Double?

        enum CodingKeys: CodingKey { case cohort, index, held, v }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(cohort, forKey: .cohort)
            try container.encode(index, forKey: .index)
            try container.encode(held, forKey: .held)
            try container.encode(v, forKey: .v)
        }
    }

    let room: String
    /// Whether it has left memory: then only what was saved with it is told.
    let asleep: Bool
    let address: String
    let incarnation: String
    let index: UInt64
    let digest: String?
    let board: Size?
    let visible: Int?
    let authors: Int
    let assembling: Int
    let cohorts: [Cohort]

    init(_ status: RoomStatus, address: RoomAddress) {
        room = address.room.text
        asleep = false
        self.address = address.description
        incarnation = status.incarnation
        index = status.index
        digest = status.digest.description
        board = Size(w: status.size.width, h: status.size.height)
        visible = status.visible
        authors = status.authors
        assembling = status.assembling
        cohorts = status.cohorts.map {
            Cohort(
                cohort: $0.name.text, index: $0.released, held: $0.held,
                v: $0.video.map { Double($0.microseconds) / 1000 })
        }
    }

    /// A room that is not in memory.
    init(_ stored: StoredRoom, address: RoomAddress) {
        room = address.room.text
        asleep = true
        self.address = address.description
        incarnation = stored.incarnation
        index = stored.cursors.values.max() ?? 0
        digest = nil
        board = nil
        visible = nil
        authors = 0
        assembling = 0
        cohorts = stored.cursors.sorted { $0.key < $1.key }.map {
            Cohort(cohort: $0.key.text, index: $0.value, held: 0, v: nil)
        }
    }

    func encoded() -> [UInt8] { encodedJSON(self) }

    /// So many lines stay below the size of one message.
    private static let pageLength = 200

    /// Many rooms, in messages that each can be read alone: whoever asks gathers them. At least one.
    static func pages(of rooms: [RoomReport]) -> [[UInt8]] {
        guard !rooms.isEmpty else { return [encodedJSON(["rooms": rooms])] }
        return stride(from: 0, to: rooms.count, by: pageLength).map { start in
            encodedJSON(["rooms": Array(rooms[start...].prefix(pageLength))])
        }
    }
}

/// Plain numbers and strings always encode.
private func encodedJSON(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map(Array.init) ?? []
}
