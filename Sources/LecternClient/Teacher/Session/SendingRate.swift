/// Keeps a teacher below what the service takes from one author: in no span of one second more than 200 messages or
/// 1 MiB, the largest message included.
///
/// The generic cell rate algorithm (ITU-T I.371), once for messages and once for bytes.
struct SendingRate: Sendable {
    private static let perMessage = Duration.seconds(1) / 180
    private static let messageBurst = perMessage * 19
    private static let perKibibyte = Duration.seconds(1) / 640
    private static let byteBurst = perKibibyte * 128

    private var messageArrival = Duration.zero
    private var byteArrival = Duration.zero

    /// The first time at which a message may go out.
    var earliest: Duration { max(messageArrival - Self.messageBurst, byteArrival - Self.byteBurst) }

    /// Counts a message that goes out now.
    mutating func take(bytes: Int, at now: Duration) {
        messageArrival = max(messageArrival, now) + Self.perMessage
        byteArrival = max(byteArrival, now) + Self.perKibibyte * bytes / 1024
    }
}
