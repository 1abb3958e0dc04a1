import StrokeWire

extension Lesson {
    /// The same lesson with its strokes cut anew into shards of so many points.
    ///
    /// - Parameter points: points of a shard, at least 1; a stroke that would come in more than 1024 shards gets
    ///   larger ones.
    /// - Throws: the first cut message that a room would not take, with the line it has in the new lesson.
    public func cut(pointsPerShard points: Int) throws(LessonError) -> Lesson {
        var cut: [(bytes: [UInt8], header: StrokeMessage)] = []
        for range in OperationRuns.ranges(of: messages.map(\.header)) {
            let operation = messages[range]
            guard operation[range.lowerBound].header.action == .draw else {
                cut += operation.map { ($0.bytes, $0.header) }
                continue
            }
            for bytes in Self.cutStroke(operation, max(1, points)) {
                do throws(MalformedMessage) {
                    // The lesson was checked when it was read; only what cutting can change is checked here.
                    let limits = WireLimits(messageBytes: .max, points: .max, colours: .rgb)
                    cut.append((bytes, try StrokeMessage(decoding: bytes, limits: limits)))
                } catch {
                    throw LessonError(line: cut.count + 1, rejection: error.rejection)
                }
            }
        }
        return Lesson(cut)
    }

    private static func cutStroke(_ shards: ArraySlice<LessonMessage>, _ points: Int) -> [[UInt8]] {
        let inOrder = shards.sorted { $0.header.shardOrder < $1.header.shardOrder }
        guard var header = inOrder.first?.header else { return [] }
        let interior = ShardJoiner.join(inOrder.map(\.interior))
        let count = shards.reduce(0) { $0 + $1.header.points.count }
        header.points = PointArray(count: count, interior: interior.indices)
        return ShardCutter.cut(header, interior: interior[...], pointsPerShard: points)
    }
}
