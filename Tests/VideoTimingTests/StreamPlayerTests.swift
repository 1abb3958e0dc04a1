import StrokeWire
import TestSupport
import Testing
import VideoTiming

/// Players in virtual time. Pictures come each 40 ms and carry their media time.
@Suite struct StreamPlayerTests {
    /// Pictures from `first` on, each 40 ms, with media times `offset` ahead of the stream's own.
    static func pictures(_ first: Int64, _ count: Int, offset: Int64 = 0) -> [TimedPicture] {
        (0..<Int64(count)).map {
            let time = first + $0 * 40_000
            return TimedPicture(presentation: time, media: MediaTime(microseconds: time + offset))
        }
    }

    static func player(_ configure: (inout StreamPlayer.Settings) -> Void = { _ in }) -> StreamPlayer {
        var settings = StreamPlayer.Settings()
        settings.startBuffer = 0
        settings.maxBehind = nil
        configure(&settings)
        return StreamPlayer(settings)
    }

    private func media(_ player: inout StreamPlayer, _ now: Int64) -> Int64? {
        player.sample(at: now)?.media.microseconds
    }

    private func sample(_ player: inout StreamPlayer, _ now: Int64) throws -> ClockSample {
        guard let sample = player.sample(at: now) else { throw Unexpected("no sample at \(now)") }
        return sample
    }

    @Test func `it moves at the pace of real time from the first picture on`() throws {
        var player = Self.player()
        #expect(media(&player, 0) == nil)
        for picture in Self.pictures(5_000_000, 100, offset: 1_000_000) { player.receive(picture, at: 2_000_000) }
        #expect(media(&player, 2_000_000) == 6_000_000)
        #expect(media(&player, 3_234_567) == 7_234_567)
    }

    @Test func `a damaged time of the first picture does not become the beginning`() throws {
        for damage: Int64 in [3_600_000_000, -3_600_000_000] {
            var player = Self.player()
            var pictures = Self.pictures(5_000_000, 100)
            pictures[0].presentation += damage
            for picture in pictures { player.receive(picture, at: 0) }
            #expect(media(&player, 0) == 5_040_000)
            #expect(media(&player, 1_000_000) == 6_040_000)
        }
    }

    @Test func `times that came apart from the pictures do not count for the next time line`() throws {
        var player = Self.player()
        for time in stride(from: Int64(0), to: 4_000_000, by: 40_000) {
            player.receive(TimedPicture(presentation: time), at: 0)
        }
        for second: Int64 in 0...2 {
            player.receive(
                MediaTime(microseconds: 100_000_000 + second * 1_000_000), presentation: second * 1_000_000)
        }
        // Beyond the pictures that came: of a part that is lost.
        for second: Int64 in 5...7 {
            player.receive(MediaTime(microseconds: 700_000_000 + second * 1_000_000), presentation: second * 1_000_000)
        }
        player.receiveDiscontinuity()
        for time in stride(from: Int64(4_500_000), to: 9_000_000, by: 40_000) {
            player.receive(TimedPicture(presentation: time), at: 0)
        }
        #expect(media(&player, 0) == 100_000_000)
        // Nothing tells the time of the new line.
        let later = player.sample(at: 5_000_000)
        #expect(later.map { $0.media.microseconds < 200_000_000 } ?? true)
    }

    @Test func `it stalls at the end of what has come, and goes on from there`() throws {
        var player = Self.player { $0.startBuffer = 200_000 }
        for picture in Self.pictures(0, 25) { player.receive(picture, at: 0) }
        #expect(player.nextChange(after: 500_000) == 1_000_000)
        let stalled = try sample(&player, 1_500_000)
        #expect(stalled.state == .stall && stalled.media.microseconds == 1_000_000)
        // Less than the buffer does not make it go on.
        for picture in Self.pictures(1_000_000, 4) { player.receive(picture, at: 2_000_000) }
        #expect(try sample(&player, 2_100_000).state == .stall)
        for picture in Self.pictures(1_160_000, 10) { player.receive(picture, at: 3_000_000) }
        let again = try sample(&player, 3_100_000)
        #expect(again.state == .play && again.media.microseconds == 1_100_000 && !again.isDiscontinuity)
        #expect(player.statistics.stalls == 1)
    }

    @Test func `it ends when all has been shown`() throws {
        var player = Self.player()
        for picture in Self.pictures(0, 25) { player.receive(picture, at: 0) }
        player.receiveEnd(at: 100_000)
        #expect(try sample(&player, 999_000).state == .play)
        let end = try sample(&player, 1_000_000)
        #expect(end.state == .end && end.media.microseconds == 1_000_000)
    }

    @Test func `a stream of fewer pictures than confirm each other is shown at its end`() throws {
        var player = Self.player()
        player.receive(TimedPicture(presentation: 0), at: 0)
        player.receive(MediaTime(milliseconds: 7), presentation: 0)
        player.receiveEnd(at: 0)
        #expect(player.isPlaying)
    }

    @Test func `an encoder that begins again is declared, and is a new session`() throws {
        var player = Self.player { $0.epoch = 4 }
        for picture in Self.pictures(90_000_000, 25) { player.receive(picture, at: 0) }
        #expect(try sample(&player, 500_000).epoch == 4)
        for picture in Self.pictures(0, 25) { player.receive(picture, at: 600_000) }
        // The first second is played to its end.
        let before = try sample(&player, 999_000)
        #expect(before.media.microseconds == 90_999_000 && !before.isDiscontinuity)
        let after = try sample(&player, 1_010_000)
        #expect(after.media.microseconds == 10_000 && after.isDiscontinuity && after.epoch == 5)
        #expect(try sample(&player, 1_100_000).isDiscontinuity == false)
    }

    @Test func `a gap in the stream is passed over and declared, within the session`() throws {
        var player = Self.player { $0.epoch = 1 }
        for picture in Self.pictures(0, 25) + Self.pictures(7_000_000, 25) { player.receive(picture, at: 0) }
        #expect(try sample(&player, 900_000).isDiscontinuity == false)
        let after = try sample(&player, 1_100_000)
        #expect(after.media.microseconds == 7_100_000 && after.isDiscontinuity && after.epoch == 1)
    }

    @Test func `stream times may jump where media times go on`() throws {
        var player = Self.player()
        for picture in Self.pictures(50_000_000, 25, offset: -50_000_000) { player.receive(picture, at: 0) }
        player.receiveDiscontinuity()
        for picture in Self.pictures(0, 25, offset: 1_000_000) { player.receive(picture, at: 0) }
        for now in stride(from: Int64(0), to: 2_000_000, by: 100_000) {
            let sample = try sample(&player, now)
            #expect(sample.media.microseconds == now && !sample.isDiscontinuity)
        }
    }

    @Test func `damaged times of single pictures move nothing`() throws {
        for var random in TestSeed.generators(20) {
            var player = Self.player()
            for picture in Self.pictures(0, 250) {
                var picture = picture
                if picture.presentation > 200_000, random.chance(1, in: 10) {
                    let far = Int64.random(in: -(1 << 59)...(1 << 59), using: &random)
                    switch random.int(0...2) {
                    case 0: picture.media = MediaTime(microseconds: far)
                    case 1: picture.decoding = far
                    default: picture = TimedPicture(presentation: far, media: picture.media)
                    }
                }
                player.receive(picture, at: 0)
            }
            for now in stride(from: Int64(0), to: 9_000_000, by: 250_000) {
                guard let sample = player.sample(at: now) else { continue }
                #expect(abs(sample.media.microseconds - now) <= 200_000)
                #expect(!sample.isDiscontinuity)
            }
        }
    }

    @Test func `a live player that is behind jumps to the end`() throws {
        var player = Self.player {
            $0.maxBehind = 2_000_000
            $0.startBuffer = 200_000
        }
        for picture in Self.pictures(0, 10) { player.receive(picture, at: 0) }
        #expect(try sample(&player, 10_000_000).state == .stall)
        for picture in Self.pictures(400_000, 240) { player.receive(picture, at: 10_000_000) }
        let sample = try sample(&player, 10_000_000)
        #expect((7_800_000...9_800_000).contains(sample.media.microseconds))
        #expect(player.statistics.catchUps > 0)
    }

    @Test func `HLS begins behind the first picture`() throws {
        var player = Self.player()
        player.begin(after: 1_500_000, at: 0)
        for picture in Self.pictures(0, 30) { player.receive(picture, at: 0) }
        #expect(media(&player, 0) == nil)
        for picture in Self.pictures(1_200_000, 30) { player.receive(picture, at: 1_000_000) }
        #expect(media(&player, 1_250_000) == 1_750_000)
    }

    @Test func `a stream that is younger than the distance is waited for`() throws {
        var player = Self.player()
        player.begin(after: -2_000_000, at: 500_000)
        for picture in Self.pictures(0, 30) { player.receive(picture, at: 600_000) }
        #expect(player.nextChange(after: 600_000) == 2_500_000)
        #expect(media(&player, 2_400_000) == nil)
        #expect(media(&player, 2_600_000) == 100_000)
    }

    @Test func `samples are ahead by the lead, and wrap as the stream's counter does`() throws {
        let period: Int64 = (1 << 32) * 1000
        var player = Self.player { $0.lead = 1_000_000 }
        player.wrapBits = 32
        for picture in Self.pictures(period - 1_200_000, 100) { player.receive(picture, at: 0) }
        #expect(media(&player, 0) == period - 200_000)
        let wrapped = try sample(&player, 500_000)
        #expect(wrapped.media.microseconds == 300_000 && wrapped.wrapBits == 32 && !wrapped.isDiscontinuity)
    }

    @Test func `it says when enough has been read ahead`() throws {
        var player = Self.player { $0.readAhead = 2_000_000 }
        var count = 0
        for picture in Self.pictures(0, 1000) where !player.isFull {
            player.receive(picture, at: 0)
            count += 1
        }
        #expect((50...52).contains(count))
        player.advance(to: 1_000_000)
        #expect(!player.isFull)
    }

    @Test func `sparse times count from the one before, and never beyond the next`() throws {
        var player = Self.player { $0.confirmations = 1 }
        for number in Int64(0)..<100 {
            let media = number % 25 == 0 ? MediaTime(microseconds: number * 39_000) : nil
            player.receive(TimedPicture(presentation: number * 40_000, media: media), at: 0)
        }
        #expect(media(&player, 500_000) == 500_000)
        #expect(media(&player, 990_000) == 975_000)
        #expect(media(&player, 1_500_000) == 1_475_000)
    }

    @Test func `times apart from the pictures count from where they stand, also when they come first`() throws {
        var player = Self.player { $0.confirmations = 1 }
        player.receive(MediaTime(milliseconds: 9000), presentation: 0)
        player.receive(MediaTime(milliseconds: 10_000), presentation: 1_000_000)
        for number in Int64(0)..<50 { player.receive(TimedPicture(presentation: number * 40_000), at: 0) }
        #expect(media(&player, 500_000) == 9_500_000)
        #expect(media(&player, 1_500_000) == 10_500_000)
    }

    @Test func `it shows nothing that has not come and goes back only declared, whatever comes and when`() throws {
        for var random in TestSeed.generators(200) {
            var player = Self.player {
                $0.startBuffer = Int64(random.int(0...300)) * 1000
                $0.maxBehind = random.chance(1, in: 2) ? 2_000_000 : nil
            }
            var now: Int64 = 0
            var next: Int64 = Int64(random.int(0...100_000)) * 1000
            var newest = Int64.min
            var last: ClockSample?
            for _ in 0..<300 {
                now += Int64(random.int(0...200)) * 1000
                if random.chance(1, in: 60) { now += 3_000_000 }
                if random.chance(1, in: 80) { next = Int64(random.int(0...100_000)) * 1000 }
                for picture in Self.pictures(next, random.int(0...8)) {
                    player.receive(picture, at: now)
                    next = picture.presentation + 40_000
                    newest = max(newest, next)
                }
                guard let sample = player.sample(at: now) else { continue }
                // The last picture may be shown as long as the one before it, a second at most.
                #expect(sample.media.microseconds <= newest + 1_000_000)
                if let last {
                    #expect(sample.number ?? 0 > last.number ?? 0)
                    let step = sample.media - last.media
                    if step < -1_000_000 { #expect(sample.isDiscontinuity) }
                    if step < 0 { #expect(step < -1_000_000 || sample.state != .pause) }
                }
                last = sample
            }
        }
    }
}
