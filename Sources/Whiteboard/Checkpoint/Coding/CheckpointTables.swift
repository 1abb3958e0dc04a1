/// The frame of a checkpoint: mark, version, the table of texts, that of shapes, then the parts of the room.
extension CheckpointWriter {
    /// All that was written, with its frame.
    func finished() -> [UInt8] {
        var whole = CheckpointWriter(logClock: LogClock())
        whole.write(raw: CheckpointFormat.mark + [CheckpointFormat.version])
        whole.write(list: texts.values) { $0.write(Array($1.utf8)) }
        whole.write(list: shapeEntries) { $0.write($1.shape) }
        whole.write(raw: bytes)
        return whole.bytes
    }
}

extension CheckpointReader {
    /// Reads all that stands before the parts of the room.
    mutating func readFrame() throws(CheckpointError) {
        for byte in CheckpointFormat.mark { try require(try self.byte() == byte) }
        let version = try byte()
        guard version == CheckpointFormat.version else { throw .unknownVersion(version) }
        texts = try list { (reader) throws(CheckpointError) in
            guard let text = String(validating: try reader.data(), as: UTF8.self) else { throw reader.damaged }
            return text
        }
        shapes = try list { (reader) throws(CheckpointError) in ShapeTable.Entry(try reader.messageShape()) }
        try require(shapes.count <= ShapeTable.bound)
    }
}
