public import StrokeWire

extension RoomAddress {
    /// Whether the partition is the one that belongs to the room; no client makes another from an address.
    public func isCanonical(among partitions: Int) -> Bool {
        partition == RoomAddress.partition(of: room, among: partitions)
    }
}
