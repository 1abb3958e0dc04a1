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

    /// Media time; the raw counter where `wrapBits` is given. `m` on the wire, in milliseconds, |m| ≤ 2⁵³.
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
    /// Whether the video side declares that the time line jumps here. `d`.
    public var isDiscontinuity: Bool
    /// 32 or 33 where `media` is a counter that wraps at so many bits. `b`.
    public var wrapBits: Int?

    public init(
        media: MediaTime, number: Int64? = nil, epoch: Int64? = nil, rate: Int = 1000, state: State = .play,
        stream: String = "", isDiscontinuity: Bool = false, wrapBits: Int? = nil
    ) {
        self.media = media
        self.number = number
        self.epoch = epoch
        self.rate = rate
        self.state = state
        self.stream = stream
        self.isDiscontinuity = isDiscontinuity
        self.wrapBits = wrapBits
    }
}
