import StrokeWire

/// Authors as the log has made them. What they were reminded of, and which decisions were asked for, is the owner's own
/// knowledge and not kept: the next owner reminds and asks again.
extension CheckpointWriter {
    mutating func write(_ author: Author) {
        write(author.id.text)
        write(logTime: author.lastHeard)
        write(list: author.sessions.known) { $0.write($1) }
        write(author.sessions.current != nil)
        write(author.messages)
        write(author.bytes)
        write(optional: author.count) { $0.write($1) }
    }

    private mutating func write(_ bucket: TokenBucket) {
        write(bucket.shortfall)
        write(logTime: bucket.filledAt)
    }
}

extension CheckpointReader {
    mutating func author(_ limits: IntakeLimits) throws(CheckpointError) -> Author {
        let id: AuthorID = try name()
        var author = Author(id, limits: limits, at: try logTime())
        let known = try list { (reader) throws(CheckpointError) in try reader.text() }
        author.sessions = Sessions(known: known, isNamed: try flag())
        author.messages = try bucket(rate: limits.messagesPerSecond)
        author.bytes = try bucket(rate: limits.bytesPerSecond)
        author.count = try optional { (reader) throws(CheckpointError) in try reader.numberCount(of: id) }
        return author
    }

    private mutating func bucket(rate: Int) throws(CheckpointError) -> TokenBucket {
        TokenBucket(rate: rate, shortfall: try integer(), at: try logTime())
    }
}
