/// What a student who joins a cohort has already.
public struct JoinRequest: Sendable, Hashable {
    /// Incarnation of the room that the student knows, nil for none. `room` on the wire.
    public var incarnation: String?
    /// Index of the last operation that the student has, nil for none. `have`.
    public var have: UInt64?

    public init(incarnation: String? = nil, have: UInt64? = nil) {
        self.incarnation = incarnation
        self.have = have
    }
}
