import StrokeWire

/// Rule 8: counters that begin again at 0.
extension ClockSample {
    /// The media time; of a counter that wraps, that one of its readings which lies nearest to `reference`.
    func unwrappedMedia(near reference: MediaTime?) -> MediaTime {
        guard let wrapBits, (1...52).contains(wrapBits), let reference else { return media }
        let period = Int64(1) << Int64(wrapBits) * 1000
        let distance = reference - media
        let rest = distance % period
        let nearest = media + (distance - rest)
        if rest > period / 2 { return nearest + period }
        return rest < -period / 2 ? nearest - period : nearest
    }
}
