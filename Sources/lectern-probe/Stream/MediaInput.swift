import CAVFormat
import VideoTiming

/// Why libavformat could not go on.
struct StreamError: Error, CustomStringConvertible {
    let description: String
    /// The stream ended as streams do.
    var isEnd = false
    /// The server knows nothing of that name.
    var isNotFound = false

    init(_ description: String) {
        self.description = description
    }

    init(_ code: Int32, _ doing: String) {
        var text = [CChar](repeating: 0, count: 128)
        av_strerror(code, &text, text.count)
        let reason = text.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        description = "\(doing): \(reason)"
        isEnd = code == lectern_AVERROR_EOF
        isNotFound = code == lectern_AVERROR_HTTP_NOT_FOUND
    }
}

/// Says when blocking calls of libavformat have to return. Libavformat asks from the thread that reads; any thread may
/// stop.
final class ReadDeadline: @unchecked Sendable {
    // Written by one thread and read by one: a torn read would end a call too early or too late, by one call.
    private var limit = ContinuousClock.now
    private let stopped: StopFlag
    private let timeout: Duration

    init(timeout: Duration, stopped: StopFlag) {
        self.timeout = timeout
        self.stopped = stopped
    }

    /// The time of one more call begins.
    func extend() { limit = .now + timeout }

    var isOver: Bool { stopped.isSet || ContinuousClock.now > limit }

    /// For libavformat; valid as long as this lives.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { context in
                guard let context else { return 1 }
                return Unmanaged<ReadDeadline>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}

/// Options of libavformat for one call.
struct StreamOptions {
    var values: [String: String] = [:]

    /// Runs a body with a dictionary that it may change, and frees it.
    func withDictionary<Result>(_ body: (inout OpaquePointer?) throws -> Result) rethrows -> Result {
        var dictionary: OpaquePointer?
        for (key, value) in values { av_dict_set(&dictionary, key, value, 0) }
        defer { av_dict_free(&dictionary) }
        return try body(&dictionary)
    }

    func adding(_ more: [String: String]) -> StreamOptions {
        StreamOptions(values: values.merging(more) { $1 })
    }
}

/// A source of bytes: a file over any protocol that libavformat knows.
final class ByteSource {
    private var context: UnsafeMutablePointer<AVIOContext>?
    private let deadline: ReadDeadline

    init(_ url: String, options: StreamOptions, deadline: ReadDeadline) throws(StreamError) {
        self.deadline = deadline
        deadline.extend()
        var callback = deadline.callback
        var opened: UnsafeMutablePointer<AVIOContext>?
        let code = options.withDictionary { avio_open2(&opened, url, AVIO_FLAG_READ, &callback, &$0) }
        guard code >= 0 else { throw StreamError(code, url) }
        context = opened
    }

    deinit { avio_closep(&context) }

    /// Reads what there is, at least a byte.
    /// - Returns: the number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
        deadline.extend()
        let got = avio_read_partial(context, buffer, Int32(clamping: count))
        return got == lectern_AVERROR_EOF ? 0 : got
    }

    /// All that is left.
    /// - Throws: when that is more than `limit` bytes.
    func readAll(limit: Int) throws(StreamError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBufferPointer { $0.baseAddress.map { read(into: $0, 65_536) } ?? 0 }
            guard count > 0 else {
                if count < 0 { throw StreamError(count, "reading") }
                return bytes
            }
            bytes += buffer[..<Int(count)]
            guard bytes.count <= limit else { throw StreamError("has more than \(limit) bytes") }
        }
    }

    /// The address after redirections; nil where it is the one that was asked for.
    var location: String? {
        guard let context else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        guard av_opt_get(context, "location", AV_OPT_SEARCH_CHILDREN, &text) >= 0, let text else { return nil }
        defer { av_free(text) }
        let location = String(cString: text)
        return location.isEmpty ? nil : location
    }
}

/// An opened stream, packet by packet. Used by one thread.
final class MediaInput {
    /// A packet of the stream that the clock follows, or of timed metadata.
    struct Packet {
        enum Content: Equatable {
            case video(VideoCodec?)
            case audio
            case metadata
        }

        let content: Content
        /// In units of the stream's time base; nil where the packet has none.
        let presentation: Int64?
        let decoding: Int64?
        /// Seconds a unit.
        let numerator: Int64
        let denominator: Int64
        /// Bits after which the times wrap.
        let wrapBits: Int
    }

    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let deadline: ReadDeadline
    /// What feeds it where it has no URL of its own.
    private var feed: PacketFeed?
    private var unreadable = 0
    private var framing: [Int32: NALFraming] = [:]

    /// So many damaged packets in a row end the input.
    private static let mostUnreadable = 10_000

    init(_ url: String, format: String?, options: StreamOptions, deadline: ReadDeadline) throws(StreamError) {
        self.deadline = deadline
        packet = av_packet_alloc()
        context = avformat_alloc_context()
        try open(url, format, options)
    }

    /// Reads from bytes that come one source after the other: an initial part, and a segment.
    init(initial: [UInt8], _ source: ByteSource, name: String, deadline: ReadDeadline) throws(StreamError) {
        self.deadline = deadline
        packet = av_packet_alloc()
        context = avformat_alloc_context()
        let feed = PacketFeed(initial: initial, source)
        self.feed = feed
        context?.pointee.pb = feed.context
        try open(name, nil, StreamOptions())
    }

    private func open(_ url: String, _ format: String?, _ options: StreamOptions) throws(StreamError) {
        guard let made = context, packet != nil else { throw StreamError("no memory") }
        made.pointee.interrupt_callback = deadline.callback
        // Wraps are told from jumps by the player, over reconnections too.
        made.pointee.correct_ts_overflow = 0
        // What libavformat may read to find out what it is.
        made.pointee.probesize = 1 << 20
        deadline.extend()
        let input = format.flatMap { av_find_input_format($0) }
        if format != nil, input == nil { throw StreamError("libavformat has no format \(format ?? "")") }
        // It frees the context where it fails.
        let code = options.withDictionary { avformat_open_input(&context, url, input, &$0) }
        guard code >= 0 else { throw StreamError(code, url) }
    }

    deinit {
        av_packet_free(&packet)
        avformat_close_input(&context)
    }

    /// The short name of the format: `mpegts`, `flv`.
    var format: String {
        context?.pointee.iformat.map { String(cString: $0.pointee.name) } ?? ""
    }

    /// Waits for the next packet of video, of audio where there is no video, or of metadata.
    ///
    /// - Parameter body: gets the packet and its bytes, which are valid during the call only.
    /// - Throws: at the end, with `isEnd`; when the time of the deadline is over; after an error of the connection.
    func next(_ body: (Packet, UnsafeRawBufferPointer, NALFraming) -> Void) throws(StreamError) {
        guard let context, let packet else { throw StreamError("closed") }
        while true {
            deadline.extend()
            let code = av_read_frame(context, packet)
            if code == lectern_AVERROR_EAGAIN { continue }
            guard code >= 0 else {
                unreadable += 1
                let isDamage = code == lectern_AVERROR_INVALIDDATA
                if isDamage, unreadable < Self.mostUnreadable, !deadline.isOver { continue }
                throw StreamError(code, "reading")
            }
            unreadable = 0
            defer { av_packet_unref(packet) }
            guard let content = content(of: packet.pointee.stream_index) else { continue }
            deliver(content, packet.pointee, body)
            return
        }
    }

    private func deliver(
        _ content: Packet.Content, _ packet: AVPacket, _ body: (Packet, UnsafeRawBufferPointer, NALFraming) -> Void
    ) {
        guard let stream = context?.pointee.streams[Int(packet.stream_index)] else { return }
        let base = stream.pointee.time_base
        let time = { (value: Int64) in value == lectern_AV_NOPTS_VALUE ? nil : value }
        body(
            Packet(
                content: content, presentation: time(packet.pts), decoding: time(packet.dts),
                numerator: Int64(base.num), denominator: Int64(max(1, base.den)),
                wrapBits: Int(stream.pointee.pts_wrap_bits)),
            UnsafeRawBufferPointer(start: packet.data, count: packet.data == nil ? 0 : Int(max(0, packet.size))),
            framing(of: content, packet, stream.pointee.codecpar.pointee))
    }

    /// Nil for what is of no use.
    private func content(of index: Int32) -> Packet.Content? {
        guard let context, index >= 0, index < Int32(clamping: context.pointee.nb_streams) else { return nil }
        var video: Int32?
        for other in 0..<Int32(clamping: context.pointee.nb_streams) where video == nil {
            guard let stream = context.pointee.streams[Int(other)] else { continue }
            let isPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            if stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO, !isPicture { video = other }
        }
        guard let parameters = context.pointee.streams[Int(index)]?.pointee.codecpar.pointee else { return nil }
        if parameters.codec_id == AV_CODEC_ID_TIMED_ID3 { return .metadata }
        if index == video {
            switch parameters.codec_id {
            case AV_CODEC_ID_H264: return .video(.h264)
            case AV_CODEC_ID_HEVC: return .video(.h265)
            default: return .video(nil)
            }
        }
        return video == nil && parameters.codec_type == AVMEDIA_TYPE_AUDIO ? .audio : nil
    }

    private func framing(of content: Packet.Content, _ packet: AVPacket, _ parameters: AVCodecParameters) -> NALFraming
    {
        guard case .video(let codec?) = content else { return .startCodes }
        var packet = packet
        var size = 0
        if let fresh = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 {
            framing[packet.stream_index] = Self.framing(fresh, size, codec)
        }
        if let known = framing[packet.stream_index] { return known }
        guard let configuration = parameters.extradata, parameters.extradata_size > 0 else { return .startCodes }
        let found = Self.framing(configuration, Int(parameters.extradata_size), codec)
        framing[packet.stream_index] = found
        return found
    }

    private static func framing(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ codec: VideoCodec) -> NALFraming {
        let configuration = UnsafeBufferPointer(start: bytes, count: count)
        return NALFraming(configuration: Span(_unsafeElements: configuration), codec: codec)
    }
}

/// Bytes for libavformat from an initial part and then a source.
private final class PacketFeed {
    private let initial: [UInt8]
    private var position = 0
    private let source: ByteSource
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferSize = 65_536

    init(initial: [UInt8], _ source: ByteSource) {
        self.initial = initial
        self.source = source
        let buffer = av_malloc(Self.bufferSize)?.assumingMemoryBound(to: UInt8.self)
        context = avio_alloc_context(
            buffer, Int32(Self.bufferSize), 0, Unmanaged.passUnretained(self).toOpaque(),
            { opaque, buffer, count in
                guard let opaque, let buffer else { return lectern_AVERROR_EOF }
                return Unmanaged<PacketFeed>.fromOpaque(opaque).takeUnretainedValue().read(buffer, Int(count))
            }, nil, nil)
    }

    deinit {
        // Libavformat may have replaced the buffer.
        if let context { av_free(context.pointee.buffer) }
        avio_context_free(&context)
    }

    private func read(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
        if position < initial.count {
            let part = min(count, initial.count - position)
            for offset in 0..<part { buffer[offset] = initial[position + offset] }
            position += part
            return Int32(part)
        }
        let got = source.read(into: buffer, count)
        return got == 0 ? lectern_AVERROR_EOF : got
    }
}
