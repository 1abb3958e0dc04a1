import StrokeWire

/// A picture that can be asked for, which changes as operations are released.
struct PictureSubject: Sendable, Hashable {
    let room: RoomLife
    let cohort: CohortName
    /// Pixels across; nil for those of the canvas.
    let width: Int?

    /// A room's life: what another life draws has the same digests only by chance.
    struct RoomLife: Sendable, Hashable {
        let room: RoomID
        let incarnation: String
    }
}
