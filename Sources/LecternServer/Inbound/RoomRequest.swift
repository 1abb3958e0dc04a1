import StrokeWire

/// A request about one room.
struct RoomRequest: Sendable {
    enum Kind: Sendable {
        case join(CohortName)
        case image(CohortName)
        case info
    }

    let kind: Kind
    let address: RoomAddress
    let payload: [UInt8]
    /// The subject to answer to.
    let reply: String

    var cost: Int { payload.count + 256 }
}
