import CAVFormat
import Foundation
import Locking
import Logging
import StrokeWire
import VideoTiming

/// Where the media time of a picture stands.
enum Carrier: String, CaseIterable, Sendable {
    /// In user data of the picture's SEI.
    case sei
    /// In timed metadata of MPEG-TS.
    case id3
    /// In the playlist of HTTP Live Streaming.
    case pdt
    /// It is the stream's own time.
    case pts
}

/// What to read and how.
struct StreamSettings: Sendable {
    var url: String
    var carrier: Carrier
    var isHLS: Bool
    /// Libavformat's name of the format; nil to find out.
    var format: String?
    /// Options of libavformat.
    var options: [String: String] = [:]
    var times = PictureTimeReader()
    /// Owner or description of ID3 frames; nil for any.
    var frameName: String?
    var start = HLSSession.Start.live
    /// How long a call may take without data.
    var timeout = Duration.seconds(10)
    /// How long a live stream that its server has ended, or a playlist that it no longer has, may stay away until the stream
    /// counts as ended.
    var endAfter = Duration.seconds(10)
    /// Bits of the counter with the carrier `pts`; nil to find out.
    var wrapBits: Int?

    /// Whether the end of the file is the end of the video.
    var isFile: Bool {
        guard let scheme = URLReference.scheme(of: url) else { return true }
        return scheme == "file" || scheme == "pipe" || scheme == "fd"
    }
}

/// Counters of what was read.
struct ReadStatistics: Sendable, Equatable {
    var connections = 0
    var failures = 0
    var segments = 0
    var lostSegments = 0
    var bytes = 0
    var lastError: String?
    /// Why there will be nothing to read.
    var fatal: String?
}

/// Reads a stream into a player on a thread of its own, and connects again as long as it may.
final class StreamReader: @unchecked Sendable {
    private let settings: StreamSettings
    private let player: LivePlayer
    private let logger: Logger
    private let stopped = StopFlag()
    private let finished = StopFlag()
    private let counters = Locked(ReadStatistics())
    // What follows is used by the reading thread alone.
    private let deadline: ReadDeadline
    private var timestamps = StreamTimestamps()
    private var wait = StreamReader.shortestWait
    /// The date of the first picture of the segment under way, until that has come.
    private var date: MediaTime?

    private static let shortestWait = Duration.milliseconds(250)
    private static let longestWait = Duration.seconds(10)

    init(_ settings: StreamSettings, player: LivePlayer, logger: Logger) {
        self.settings = settings
        self.player = player
        self.logger = logger
        deadline = ReadDeadline(timeout: settings.timeout, stopped: stopped)
    }

    var statistics: ReadStatistics { counters.withLock { $0 } }

    /// Why there will be nothing to read.
    var failure: String? { counters.withLock { $0.fatal } }

    func start() {
        av_log_set_level(logger.logLevel <= .debug ? AV_LOG_INFO : AV_LOG_QUIET)
        avformat_network_init()
        let thread = Thread { [self] in
            if settings.isHLS { readPlaylist() } else { readStream() }
            finished.set()
        }
        thread.name = "stream"
        thread.start()
    }

    /// Ends the thread; returns when it has ended, or after two seconds.
    func stop() async {
        stopped.set()
        for _ in 0..<200 where !finished.isSet { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

// MARK: - A stream of one piece

extension StreamReader {
    private func readStream() {
        var goneSince: ContinuousClock.Instant?
        while !stopped.isSet {
            let before = player.withPlayer { player, _ in player.statistics.pictures }
            do throws(StreamError) {
                let options = StreamOptions(values: settings.options)
                let input = try MediaInput(
                    settings.url, format: settings.format, options: options, deadline: deadline)
                noteConnection(input)
                if settings.carrier == .pts { setWrap(of: input.format) }
                while !stopped.isSet {
                    try next(of: input)
                    goneSince = nil
                    wait = Self.shortestWait
                }
            } catch {
                if stopped.isSet { return }
                if !settings.isFile || !error.isEnd { note(error) }
                if settings.isFile {
                    // Damage ends a file as its last byte does.
                    let hasBegun = player.withPlayer { player, _ in player.statistics.pictures > before }
                    if !error.isEnd, !hasBegun { counters.withLock { $0.fatal = error.description } }
                    return finish()
                }
                if error.isEnd, goneSince == nil { goneSince = .now }
            }
            if let since = goneSince, since.duration(to: .now) >= settings.endAfter { return finish() }
            pause(backOff(until: goneSince.map { $0 + settings.endAfter }))
            // What another connection sends is not what is missing.
            player.update { player, _ in player.receiveDiscontinuity() }
        }
    }

    private func finish() {
        if player.withPlayer({ player, _ in player.statistics.pictures == 0 }) {
            counters.withLock { $0.fatal = $0.fatal ?? "nothing could be read: " + ($0.lastError ?? "it is empty") }
        }
        player.update { $0.receiveEnd(at: $1) }
    }

    /// FLV and RTMP have 32 bits of milliseconds.
    private func setWrap(of format: String) {
        let bits = settings.wrapBits ?? (format == "flv" ? 32 : nil)
        player.withPlayer { player, _ in player.wrapBits = bits }
    }

    private func next(of input: MediaInput) throws(StreamError) {
        try input.next { packet, bytes, framing in
            counters.withLock { $0.bytes += bytes.count }
            take(packet, bytes, framing)
        }
        while !stopped.isSet,
            player.withPlayer({ player, now in
                player.advance(to: now)
                return player.isFull
            })
        { pause(.milliseconds(20)) }
    }

    private func take(_ packet: MediaInput.Packet, _ bytes: UnsafeRawBufferPointer, _ framing: NALFraming) {
        guard
            let time = timestamps.read(
                presentation: packet.presentation, decoding: packet.decoding, numerator: packet.numerator,
                denominator: packet.denominator, wrapBits: packet.wrapBits)
        else { return }
        switch packet.content {
        case .metadata:
            guard settings.carrier == .id3 else { return }
            let tag = ID3Tag(Array(bytes.prefix(65_536)))
            guard let media = tag.time(named: settings.frameName, key: settings.times.key) else { return }
            player.update { player, _ in player.receive(media, presentation: time.presentation) }
        case .video(let codec):
            var media: MediaTime?
            if settings.carrier == .sei, let codec, bytes.count > 0 {
                media = settings.times.time(of: Span(_unsafeBytes: bytes), framing, codec)
            }
            take(time, media)
        case .audio: take(time, nil)
        }
    }

    private func take(_ time: (presentation: Int64, decoding: Int64), _ found: MediaTime?) {
        var media = found
        if settings.carrier == .pts { media = MediaTime(microseconds: time.presentation) }
        if settings.carrier == .pdt {
            media = date
            date = nil
        }
        let picture = TimedPicture(presentation: time.presentation, decoding: time.decoding, media: media)
        player.update { $0.receive(picture, at: $1) }
    }

    private func noteConnection(_ input: MediaInput) {
        counters.withLock { $0.connections += 1 }
        logger.debug("connected", metadata: ["format": "\(input.format)"])
    }

    private func note(_ error: StreamError) {
        counters.withLock {
            $0.failures += 1
            $0.lastError = error.description
        }
        logger.notice("the stream cannot be read", metadata: ["error": "\(error)"])
    }

    /// The wait before the next attempt: doubled each time, less by up to a quarter at random.
    private func backOff(until limit: ContinuousClock.Instant?) -> Duration {
        let now = wait * Double.random(in: 0.75...1)
        wait = min(wait * 2, Self.longestWait)
        guard let limit else { return now }
        return max(.zero, min(now, ContinuousClock.now.duration(to: limit)))
    }

    private func pause(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !stopped.isSet {
            let left = ContinuousClock.now.duration(to: end) / .seconds(1)
            guard left > 0 else { return }
            Thread.sleep(forTimeInterval: min(left, 0.05))
        }
    }
}

// MARK: - HTTP Live Streaming

extension StreamReader {
    /// A playlist with more bytes is not read.
    private static let largestPlaylist = 8 << 20
    /// What comes before the segments of fragmented MP4.
    private static let largestMap = 1 << 20

    private func readPlaylist() {
        var session = HLSSession(settings.start)
        var source: String?
        var map: (MediaPlaylist.Map, [UInt8])?
        // Since when the playlist has been missing that was there before.
        var goneSince: ContinuousClock.Instant?
        while !stopped.isSet {
            if let since = goneSince, since.duration(to: .now) >= settings.endAfter { return finish() }
            var isPlaylist = false
            do throws(StreamError) {
                switch session.action() {
                case .end: return finish()
                case .reload(let time):
                    pause(.microseconds(max(0, time - Uptime.now)))
                    if stopped.isSet { return }
                    isPlaylist = true
                    let (list, address) = try loadPlaylist(source ?? settings.url)
                    if list.isProtected { throw StreamError("\(address): is encrypted with more than AES-128") }
                    source = address
                    goneSince = nil
                    session.receive(list, at: Uptime.now)
                    wait = Self.shortestWait
                case .load(let segment, let isNewTimeLine):
                    try load(segment, isNewTimeLine, &session, &map, base: source ?? settings.url)
                }
            } catch {
                if stopped.isSet { return }
                note(error)
                if isPlaylist { goneSince = source != nil && error.isNotFound ? goneSince ?? .now : nil }
                pause(backOff(until: goneSince.map { $0 + settings.endAfter }))
            }
        }
    }

    /// The media playlist and its address: of several variants that with the lowest bandwidth, all have the same times.
    private func loadPlaylist(_ url: String) throws(StreamError) -> (MediaPlaylist, String) {
        var address = url
        for _ in 0..<3 {
            let file = try ByteSource(address, options: fileOptions, deadline: deadline)
            let text = try file.readAll(limit: Self.largestPlaylist)
            address = file.location ?? address
            counters.withLock { $0.connections += 1 }
            switch HLSPlaylist(String(decoding: text, as: UTF8.self)) {
            case .media(let list): return (list, address)
            case .variants(let variants):
                guard let variant = variants.min(by: { $0.bandwidth < $1.bandwidth }) else { break }
                address = URLReference.resolve(variant.uri, base: address)
            case nil: throw StreamError("\(address): is no HLS playlist")
            }
        }
        throw StreamError("\(url): leads from playlist to playlist")
    }

    private func load(
        _ segment: MediaPlaylist.Segment, _ isNewTimeLine: Bool, _ session: inout HLSSession,
        _ map: inout (MediaPlaylist.Map, [UInt8])?, base: String
    ) throws(StreamError) {
        let before = player.withPlayer { player, _ in player.statistics.pictures }
        do throws(StreamError) {
            if let wanted = segment.map, wanted != map?.0 {
                func read(_ key: MediaPlaylist.Key?) throws(StreamError) -> [UInt8] {
                    let file = try open(wanted.uri, wanted.range, key, number: segment.number, base: base)
                    return try file.readAll(limit: Self.largestMap)
                }
                let bytes = try read(nil)
                let isPlain = wanted.key == nil || bytes.dropFirst(4).starts(with: "ftyp".utf8)
                map = (wanted, isPlain ? bytes : try read(wanted.key))
            }
            let file = try open(segment.uri, segment.range, segment.key, number: segment.number, base: base)
            let input = try MediaInput(
                initial: segment.map == nil ? [] : map?.1 ?? [], file, name: segment.uri, deadline: deadline)
            counters.withLock { $0.segments += 1 }
            player.update { [skip = session.skip] player, now in
                if isNewTimeLine { player.receiveDiscontinuity() }
                if player.statistics.pictures == 0 { player.begin(after: skip, at: now) }
            }
            date = segment.date
            while !stopped.isSet { try next(of: input) }
        } catch {
            if stopped.isSet { return }
            let count = player.withPlayer { player, _ in player.statistics.pictures }
            if error.isEnd || count > before {
                session.loaded(segment)
                wait = Self.shortestWait
                if !error.isEnd { note(error) }
            } else {
                let isAgain = session.failed(segment)
                counters.withLock { $0.lostSegments = session.lost }
                if isAgain { throw error }
                note(error)
            }
        }
        counters.withLock { $0.lostSegments = session.lost }
    }

    private func open(
        _ uri: String, _ range: MediaPlaylist.ByteRange?, _ key: MediaPlaylist.Key?, number: Int64, base: String
    ) throws(StreamError) -> ByteSource {
        var url = URLReference.resolve(uri, base: base)
        if let range { url = "subfile,,start,\(range.offset),end,\(range.offset + range.length),,:\(url)" }
        guard let key else { return try ByteSource(url, options: fileOptions, deadline: deadline) }
        let keyFile = try ByteSource(
            URLReference.resolve(key.uri, base: base), options: fileOptions, deadline: deadline)
        let secret = try keyFile.readAll(limit: 1024)
        let digits = String(number, radix: 16)
        let vector = key.vector ?? String(repeating: "0", count: 32 - digits.count) + digits
        let options = fileOptions.adding([
            "key": secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(), "iv": vector,
        ])
        // The range is within the decryption: each segment is encrypted on its own (RFC 8216, section 4.3.2.4).
        return try ByteSource("crypto:" + url, options: options, deadline: deadline)
    }

    /// A playlist from the network may not name files of this machine.
    private var fileOptions: StreamOptions {
        let transports = settings.isFile ? "file" : "http,https,httpproxy,tcp,tls"
        return StreamOptions(values: ["protocol_whitelist": "\(transports),crypto,data,subfile"])
            .adding(settings.options)
    }
}
