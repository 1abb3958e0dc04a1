/// Published on `<root>.erased` when a room was erased, or all of it but something: whoever keeps pictures of it, or of files
/// that were erased with it, drops them. `{"room":"physics","assets":["9f86…"]}`.
public struct ErasedRoom: Sendable, Hashable {
    public let room: RoomID
    /// Assets that are gone too, ``limit`` at most: further notices have the others.
    public let assets: [AssetID]

    public static let limit = 1000

    public init(room: RoomID, assets: [AssetID]) {
        self.room = room
        self.assets = Array(assets.prefix(Self.limit))
    }

    /// As many as the assets need; one without any.
    public static func notices(_ room: RoomID, _ assets: [AssetID]) -> [ErasedRoom] {
        stride(from: 0, to: max(1, assets.count), by: limit).map {
            ErasedRoom(room: room, assets: Array(assets.dropFirst($0)))
        }
    }

    /// The subject.
    public static func subject(root: String) -> String { "\(root).erased" }

    /// Writes it.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("room", string: room.text)
            body.append("assets", list: assets) { $0.append(string: $1.description) }
        }
    }

    /// Reads it.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["room", "assets"], limit: .max)
        let room = try body.room()
        let assets = try body.strings("assets") ?? []
        self.init(room: room, assets: assets.compactMap { AssetID(hexadecimal: $0) })
    }
}
