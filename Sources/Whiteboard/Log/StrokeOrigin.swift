import StrokeWire

/// What many strokes of a room have in common.
final class StrokeOrigin: Sendable {
    let author: AuthorID
    /// Of packed messages; nil for those that are kept as they came.
    let shape: ShapeTable.Entry?

    init(author: AuthorID, shape: ShapeTable.Entry?) {
        self.author = author
        self.shape = shape
    }
}

/// The origins of a room's strokes, one object each.
///
/// Bounded: a room that has seen more begins anew; strokes keep the origins that they have.
struct StrokeOrigins: Sendable {
    private struct Key: Hashable, Sendable {
        let author: AuthorID
        let shape: ObjectIdentifier?
    }

    static let bound = 128

    private var known: [Key: StrokeOrigin] = [:]
    /// The last one used: most likely the next one's, too.
    private var recent: StrokeOrigin?

    mutating func origin(_ author: AuthorID, _ shape: ShapeTable.Entry?) -> StrokeOrigin {
        if let recent, recent.shape === shape, recent.author == author { return recent }
        let key = Key(author: author, shape: shape.map(ObjectIdentifier.init))
        if let origin = known[key] {
            recent = origin
            return origin
        }
        if known.count >= Self.bound { known = [:] }
        let origin = StrokeOrigin(author: author, shape: shape)
        known[key] = origin
        recent = origin
        return origin
    }
}
