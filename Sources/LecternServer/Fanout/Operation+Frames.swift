import NATSClient
import StrokeWire
import Whiteboard

extension Operation {
    /// The messages that carry the operation: the one that came in, byte for byte; a stroke joined from shards is cut
    /// again where it is larger than `maxBytes`.
    func frames(maxBytes: Int) -> [[UInt8]] {
        let bytes = restoredMessage
        guard bytes.count > maxBytes, let joined else { return [bytes] }
        return ShardCutter.cut(joined, interior: bytes[joined.points.interior], maxBytes: maxBytes)
    }

    /// The headers of a released operation.
    func headers(incarnation: String, isLate: Bool) -> NATSHeaders {
        var headers = NATSHeaders()
        headers.append(HeaderName.index, String(index))
        headers.append(HeaderName.room, incarnation)
        headers.append(HeaderName.author, author.text)
        if let reference { headers.append(HeaderName.ref, String(reference)) }
        headers.append(HeaderName.digest, digest.description)
        if isLate { headers.append(HeaderName.late, "1") }
        return headers
    }
}
