/// A sample of a cohort's video clock: what its students see at this moment.
public struct ClockSample: Sendable, Equatable {
    /// What the video is doing.
    public enum State: String, Sendable, CaseIterable {
        case play
        case pause
        /// Standing still because data is missing.
        case stall
        case end
    }

    /// Media time; the raw counter if `wrapBits` is given. `m` on the wire, in milliseconds, |m| ≤ 2⁵³.
    public var media: MediaTime
    /// Counts the samples of a session, |q| ≤ 2⁵³. `q`.
    public var number: Int64?
    /// Encoder session, 0 … 2⁵³−1. `ep`.
    public var epoch: Int64?
    /// Rate in thousandths, 0 … 2000. `r`.
    public var rate: Int
    /// `s`.
    public var state: State
    /// Stream id, at most 64 bytes. `st`.
    public var stream: String
    /// Whether the video side declares a jump of the time line here. `d`.
    public var isDiscontinuity: Bool
    /// Bits after which the raw counter `media` wraps, 32 or 33; nil if `media` is not a counter. `b`.
    public var wrapBits: Int?
    /// Wall time of sampling, UTC in milliseconds, for those who look for delays; the service does not read it. `w`.
    public var wallTime: Double?
    /// Microseconds from the moment in which the picture at `media` was taken at the teacher to the moment in which the
    /// cohort sees it, 0 … 600,000,000; nil where the source does not know it. `a` on the wire, in milliseconds.
    public var age: Int64?

    /// The greatest ``age``, microseconds.
    public static let greatestAge: Int64 = 600_000_000

    public init(
        media: MediaTime, number: Int64? = nil, epoch: Int64? = nil, rate: Int = 1000, state: State = .play,
        stream: String = "", isDiscontinuity: Bool = false, wrapBits: Int? = nil, wallTime: Double? = nil,
        age: Int64? = nil
    ) {
        (self.media, self.number, self.epoch, self.rate) = (media, number, epoch, rate)
        (self.state, self.stream, self.isDiscontinuity) = (state, stream, isDiscontinuity)
        (self.wrapBits, self.wallTime, self.age) = (wrapBits, wallTime, age)
    }
}

extension ClockSample {
    private static let keys = ["m", "q", "ep", "r", "s", "st", "d", "b", "w", "a"]

    /// Reads a sample. Unknown keys are ignored.
    /// - Throws: the first fault, in the order of the properties.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys, limit: 4096)
        media = try body.time("m").required("m")
        let safe = Int64.maxSafeInteger
        number = try body.integer("q", in: (-safe - 1)...(safe + 1))
        epoch = try body.integer("ep", in: 0...safe)
        rate = try body.integer("r", in: 0...2000) ?? 1000
        state = try body.value("s", "play, pause, stall or end") { State(rawValue: $0) } ?? .play
        stream = try body.string("st", limit: 64) ?? ""
        isDiscontinuity = try body.bool("d") ?? false
        wrapBits = try body.integer("b", in: 32...33)
        wallTime = try body.number("w")
        age = try body.number("a", in: 0...(Double(Self.greatestAge) / 1000)).map { Int64(($0 * 1000).rounded()) }
    }

    /// Writes a sample without the values that are their defaults.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("m", time: media)
            body.append("q", integer: number)
            body.append("ep", integer: epoch)
            body.append("r", integer: rate == 1000 ? nil : rate)
            body.append("s", string: state == .play ? nil : state.rawValue)
            body.append("st", string: stream.isEmpty ? nil : stream)
            body.append("d", bool: isDiscontinuity ? true : nil)
            body.append("b", integer: wrapBits)
            body.append("w", time: wallTime.flatMap { MediaTime(milliseconds: $0) })
            body.append("a", time: age.map { MediaTime(microseconds: $0) })
        }
    }
}
