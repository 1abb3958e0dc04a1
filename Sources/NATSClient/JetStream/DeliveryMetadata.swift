/// JetStream's metadata of a delivered message.
///
/// It is the reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer
/// sequence>.<time>.<pending>`, or, from servers with domains, with the domain and a hash of the account before the
/// stream, and possibly a random token at the end (ADR-15).
public struct DeliveryMetadata: Sendable, Equatable {
    /// The sequence of the message in the stream.
    public let streamSequence: UInt64
    /// The number of the delivery of this consumer, from 1, without gaps.
    public let consumerSequence: UInt64
    /// When the stream stored the message, in nanoseconds since 1970.
    public let time: Int64
    /// Later messages that wait to be delivered.
    public let pending: UInt64

    public init(streamSequence: UInt64, consumerSequence: UInt64, time: Int64, pending: UInt64) {
        self.streamSequence = streamSequence
        self.consumerSequence = consumerSequence
        self.time = time
        self.pending = pending
    }
}

extension DeliveryMetadata {
    private static let prefix: StaticString = "$JS.ACK."

    /// Parses a reply subject; nil when it is not JetStream's. Allocates nothing.
    init?(acknowledgementSubject subject: UnsafeRawBufferPointer) {
        let isPrefixed = Self.prefix.withUTF8Buffer { subject.starts(with: $0) }
        guard isPrefixed else { return nil }
        let stops = subject.count { $0 == UInt8(ascii: ".") }
        let leading: Int
        switch stops + 1 {
        case 9: leading = 5
        case 11, 12: leading = 7
        default: return nil
        }
        var numbers = Numbers(text: subject, skipping: leading)
        guard let streamSequence = numbers.next(), let consumerSequence = numbers.next(),
            let time = numbers.next().flatMap({ Int64(exactly: $0) }), let pending = numbers.next()
        else { return nil }
        self.init(
            streamSequence: streamSequence, consumerSequence: consumerSequence, time: time, pending: pending)
    }

    /// Decimal tokens separated by full stops.
    private struct Numbers {
        let text: UnsafeRawBufferPointer
        var position = 0

        init(text: UnsafeRawBufferPointer, skipping tokens: Int) {
            self.text = text
            var left = tokens
            while left > 0, position < text.count {
                if text[position] == UInt8(ascii: ".") { left -= 1 }
                position += 1
            }
        }

        mutating func next() -> UInt64? {
            var value: UInt64 = 0
            let start = position
            while position < text.count, text[position] != UInt8(ascii: ".") {
                let digit = text[position]
                guard 0x30...0x39 ~= digit else { return nil }
                let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
                let (sum, carry) = scaled.addingReportingOverflow(UInt64(digit - 0x30))
                guard !overflow, !carry else { return nil }
                value = sum
                position += 1
            }
            guard position > start else { return nil }
            position += 1
            return value
        }
    }
}
