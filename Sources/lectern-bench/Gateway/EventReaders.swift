import ArgumentParser
import Locking
import NIOCore
import NIOPosix
import StrokeWire

/// Readers of a room's server-sent events, each a connection of its own; one thread serves all of them.
///
/// Readers come from several loopback addresses, because a gateway bounds the readers of one address.
final class EventReaders: Sendable {
    /// Connections from one address, below a gateway's bound.
    private static let connectionsPerAddress = 900

    /// From when an operation was due to be published to when a reader has it.
    let latencies = LatencyHistogram()
    /// From the begin of a connection to the end of its first board.
    let joins = LatencyHistogram()
    let room: LoadRoom

    private let port: Int
    /// Whether they ask for a gzip stream, as browsers do. Only their first board is noticed then.
    private let isCompressed: Bool
    private let channels = Locked<[any Channel]>([])
    /// Operations received by all readers.
    let received = Counter()
    /// Readers whose connection has ended.
    let lost = Counter()
    /// Operations that came out of order or not at all.
    let gaps = Counter()

    init(of room: LoadRoom, port: Int, isCompressed: Bool = false) {
        self.room = room
        self.port = port
        self.isCompressed = isCompressed
    }

    /// Readers that have their board.
    var joinedCount: Int { Int(joins.count) }

    /// Connects one more reader and sends its request.
    func open() async throws {
        let number = channels.withLock { $0.count }
        let began = LoadClock.now
        let bootstrap = try bootstrap(from: 1 + number / Self.connectionsPerAddress)
        try await connect(
            bootstrap.channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if isCompressed {
                        try pipeline.addHandler(CompressedEventReader(self, began: began))
                    } else {
                        try pipeline.addHandler(EventReader(self, began: began))
                    }
                }
            })
    }

    /// Connects a reader that sends its request and never reads.
    func openStalled() async throws {
        try await connect(
            bootstrap(from: 99).channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4096))
    }

    private func bootstrap(from host: Int) throws -> ClientBootstrap {
        ClientBootstrap(group: Self.group).bind(to: try SocketAddress(ipAddress: "127.0.0.\(host)", port: 0))
    }

    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private func connect(_ bootstrap: ClientBootstrap) async throws {
        let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
        channels.withLock { $0.append(channel) }
        let encoding = isCompressed ? "Accept-Encoding: gzip\r\n" : ""
        let request =
            "GET /api/rooms/\(room.address.room.text)/events?cohort=main HTTP/1.1\r\nHost: 127.0.0.1\r\n\(encoding)\r\n"
        try await channel.writeAndFlush(ByteBuffer(string: request)).get()
    }

    /// Ends all connections.
    func close() async {
        for channel in channels.withLock({ $0 }) { try? await channel.close().get() }
    }

    fileprivate func note(_ index: Int, after last: Int, at now: Int64) {
        if index != last + 1 { gaps.add() }
        received.add()
        if let due = room.due(index) { latencies.record(nanoseconds: now - due) }
    }
}

/// One reader of a gzip stream: takes it apart by chunks, and unpacks nothing. The first chunk is the prelude, and the second
/// the board.
private final class CompressedEventReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum Part {
        /// The head of the response, up to its empty line.
        case head
        /// The length of a chunk.
        case length
        /// A chunk and its line end, so many bytes of them.
        case chunk(Int)
    }

    private let readers: EventReaders
    private let began: Int64
    private var part = Part.head
    private var line: [UInt8] = []
    private var chunks = 0

    init(_ readers: EventReaders, began: Int64) {
        self.readers = readers
        self.began = began
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = LoadClock.now
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                if case .chunk(let left) = part {
                    take(min(left, rest.count), of: left, at: now)
                    rest = rest.dropFirst(left)
                } else if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line += rest[..<end]
                    rest = rest[(end + 1)...]
                    endLine()
                } else {
                    line += rest
                    return
                }
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { readers.lost.add() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func take(_ count: Int, of left: Int, at now: Int64) {
        guard count == left else {
            part = .chunk(left - count)
            return
        }
        part = .length
        chunks += 1
        if chunks == 2 { readers.joins.record(nanoseconds: now - began) }
    }

    private func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" }
        switch part {
        case .head: if text.isEmpty { part = .length }
        case .length: part = .chunk((Int(text, radix: 16) ?? 0) + 2)
        case .chunk: break
        }
    }
}

/// One reader: takes the stream apart by lines, and keeps nothing of data.
private final class EventReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let readers: EventReaders
    private let began: Int64
    /// The begin of a line whose end has not come.
    private var line: [UInt8] = []
    /// Whether the line is one of data, whose bytes are not kept.
    private var isData = false
    private var event = ""
    private var index = 0
    private var hasBoard = false

    init(_ readers: EventReaders, began: Int64) {
        self.readers = readers
        self.began = began
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = LoadClock.now
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if !isData { line += rest[..<end] }
                endLine(at: now)
                rest = rest[(end + 1)...]
            }
            if !isData {
                line += rest
                isData = line.starts(with: "data: ".utf8)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { readers.lost.add() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func endLine(at now: Int64) {
        defer {
            line.removeAll(keepingCapacity: true)
            isData = false
        }
        guard !isData else { return }
        if line.starts(with: "event: ".utf8) {
            event = String(decoding: line.dropFirst(7), as: UTF8.self)
        } else if line.starts(with: "id: ".utf8) {
            let colon = line.lastIndex(of: UInt8(ascii: ":")) ?? 0
            let number = Int(String(decoding: line[(colon + 1)...], as: UTF8.self)) ?? 0
            if event == "op" { readers.note(number, after: index, at: now) }
            index = number
        } else if line.isEmpty, event == "board" {
            if !hasBoard { readers.joins.record(nanoseconds: now - began) }
            hasBoard = true
            event = ""
        }
    }
}
