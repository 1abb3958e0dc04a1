// Signatures whose bodies follow.
let pending = Rejection(code: .notJSON, message: "Not there yet.")
extension StrokeMessage {
    public init(decoding bytes: [UInt8], limits: WireLimits = WireLimits()) throws(MalformedMessage) {
        throw MalformedMessage(number: nil, order: nil, rejection: pending)
    }
    public func encoded(interior: ArraySlice<UInt8>) -> [UInt8] { [] }
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] { [] }
}
extension PointArray {
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] { [] }
    public func forEachPoint(of bytes: [UInt8], _ body: (StrokePoint) -> Void) {}
}
public enum PointEncoder {
    public static func interior(of points: [StrokePoint]) -> [UInt8] { [] }
}
public enum ShardJoiner {
    public static func join(_ interiors: [ArraySlice<UInt8>]) -> [UInt8] { [] }
}
public enum ShardCutter {
    public static func cut(_ message: StrokeMessage, interior: ArraySlice<UInt8>, maxBytes: Int) -> [[UInt8]] { [] }
    public static func cut(_ message: StrokeMessage, interior: ArraySlice<UInt8>, pointsPerShard: Int) -> [[UInt8]] { [] }
}
extension ClockSample {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension Feedback {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension Mark {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension ControlRecord {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension JoinRequest {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension ImageRequest {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
    public func encoded() -> [UInt8] { [] }
}
extension RequestError {
    public init?(decoding bytes: [UInt8]) { nil }
    public func encoded() -> [UInt8] { [] }
}
public struct JoinReplyWriter: Sendable {
    public init(room: String, index: UInt64, digest: BoardDigest, palette: Palette) {}
    public consuming func tail(_ operations: some Sequence<JoinedOperation>) -> [UInt8] { [] }
    public consuming func board(
        width: Double, height: Double, visible: some Sequence<JoinedOperation>, redo: some Sequence<JoinedOperation>,
        cleared: some Sequence<ClearedBoard> = EmptyCollection<ClearedBoard>()
    ) -> [UInt8] { [] }
}
extension JoinReply {
    public init(decoding bytes: [UInt8]) throws(Rejection) { throw pending }
}
extension UInt8 {
    var isHexadecimalDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
