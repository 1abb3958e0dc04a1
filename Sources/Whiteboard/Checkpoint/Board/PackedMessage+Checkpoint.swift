extension CheckpointWriter {
    /// A message as it lies in memory: packed ones are not unpacked for this.
    mutating func write(_ message: PackedMessage, pointCount: Int) {
        switch message.storage {
        case .plain(let bytes):
            write(false)
            write(bytes)
            write(pointCount)
        case .packed(let entry, let numbers):
            write(true)
            write(entry)
            write(numbers)
        }
    }
}

extension CheckpointReader {
    /// A message and how many points it has.
    mutating func packedMessage() throws(CheckpointError) -> (message: PackedMessage, pointCount: Int) {
        guard try flag() else {
            let bytes = try data()
            let points = try integer()
            // A point takes several bytes.
            try require(points <= UInt64(bytes.count))
            return (PackedMessage(storage: .plain(bytes)), Int(points))
        }
        let entry = try shape()
        let numbers = try data()
        guard let points = MessageUnpacker.pointCount(of: numbers, shape: entry.shape) else { throw damaged }
        return (PackedMessage(storage: .packed(entry, numbers: numbers)), points)
    }
}
