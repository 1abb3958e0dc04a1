internal import Foundation

/// All rooms, ready to be sent.
struct Listing: Sendable {
    /// The body of `GET /api/rooms`.
    let json: [UInt8]
    /// The page at `/`.
    let page: String

    init(_ list: RoomList) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Names and numbers that came as JSON always encode.
        json = (try? encoder.encode(list)).map(Array.init) ?? []
        page = IndexPage(rooms: list.rooms, notice: nil).html
    }
}
