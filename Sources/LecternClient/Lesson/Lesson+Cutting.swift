import StrokeWire

extension Lesson {
    /// The same lesson with its strokes cut anew into shards of so many points.
    ///
    /// - Parameter points: points of a shard, at least 1; a stroke that would come in more than 1024 shards gets
    ///   larger ones.
    /// - Throws: the first cut message that a room would not take, with the line it has in the new lesson.
    public func cut(pointsPerShard points: Int) throws(LessonError) -> Lesson {
        var cut: [(bytes: [UInt8], header: StrokeMessage)] = []
        var start = 0
        while start < messages.count {
            let end = endOfOperation(from: start)
            defer { start = end }
            guard messages[start].header.action == .draw else {
                cut.append((messages[start].bytes, messages[start].header))
                continue
            }
            for bytes in Self.cutStroke(messages[start..<end], max(1, points)) {
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

    private func endOfOperation(from start: Int) -> Int {
        let first = messages[start].header
        guard first.action == .draw, first.isSharded else { return start + 1 }
        return messages[start...].firstIndex { $0.header.number != first.number || !$0.header.isSharded }
            ?? messages.count
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
