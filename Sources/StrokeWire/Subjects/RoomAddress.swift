/// `<root>.<partition>.<room>`: the prefix of all subjects of a room.
public struct RoomAddress: Hashable, Sendable {
    /// One or more subject tokens, `ink` by default.
    public let root: String
    /// The room's partition, from 0.
    public let partition: Int
    public let room: RoomID

    /// The address of a room among so many partitions; fewer than one count as one.
    public init(root: String, room: RoomID, partitions: Int) {
        self.init(root: root, partition: Self.partition(of: room, among: partitions), room: room)
    }

    /// An address as it was given, whatever partition the room belongs to.
    public init(root: String, partition: Int, room: RoomID) {
        self.root = root
        self.partition = partition
        self.room = room
    }

    /// The partition of a room: FNV-1a (32 bit) of its name, modulo the number of partitions.
    public static func partition(of room: RoomID, among partitions: Int) -> Int {
        Int(FNV1a32.hash(room.text.utf8)) % max(1, partitions)
    }
}

extension RoomAddress: CustomStringConvertible {
    /// As it stands in a subject, such as `ink.0.lesson-7`.
    public var description: String { "\(root).\(partition).\(room)" }
}
