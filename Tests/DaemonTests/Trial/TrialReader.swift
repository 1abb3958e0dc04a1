import Foundation
import Locking
import NIOCore
import NIOPosix
import TestSupport

/// A browser's event stream of a room over HTTP, which comes back to the other gateway when it breaks.
final class TrialReader: Sendable {
    fileprivate struct State {
        var record = TrialRecord()
        var lastID = ""
        var connections = 0
        var channel: (any Channel)?
        var isStopped = false
    }

    let room: String
    let cohort: String
    let video: Video
    private let gateways: @Sendable () -> [(host: String, port: Int)]
    private let first: Int
    private let state = Locked(State())

    /// All readers share a thread.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameters:
    ///   - gateways: where gateways take connections, before each of them.
    ///   - first: the number of the one to begin with.
    init(
        room: String, cohort: String, video: Video, first: Int,
        gateways: @escaping @Sendable () -> [(host: String, port: Int)]
    ) {
        self.room = room
        self.cohort = cohort
        self.video = video
        self.gateways = gateways
        self.first = first
    }

    var record: TrialRecord { state.withLock { $0.record } }
    var index: UInt64 { state.withLock { $0.record.index } }
    var hasBoard: Bool { state.withLock { $0.record.hasBoard } }
    var connections: Int { state.withLock { $0.connections } }

    /// Reads until ``stop()``.
    func follow() async {
        var gateway = first
        while !state.withLock({ $0.isStopped }) {
            let gateways = gateways()
            if !gateways.isEmpty { try? await read(from: gateways[gateway % gateways.count]) }
            gateway += 1
            // As the stream says: retry: 1000.
            if !state.withLock({ $0.isStopped }) { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    func stop() {
        let channel = state.withLock { state in
            state.isStopped = true
            return state.channel
        }
        channel?.close(promise: nil)
    }

    private func read(from gateway: (host: String, port: Int)) async throws {
        let channel = try await ClientBootstrap(group: Self.group)
            .connectTimeout(.seconds(2))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EventStreamHandler(self))
                }
            }
            .connect(host: gateway.host, port: gateway.port).get()
        let (last, isStopped) = state.withLock { state in
            state.connections += 1
            state.channel = channel
            return (state.lastID, state.isStopped)
        }
        if isStopped { try await channel.close().get() }
        let header = last.isEmpty ? "" : "Last-Event-ID: \(last)\r\n"
        let request =
            "GET /api/rooms/\(room)/events?cohort=\(cohort) HTTP/1.1\r\nHost: \(gateway.host)\r\n\(header)\r\n"
        try await channel.writeAndFlush(ByteBuffer(string: request)).get()
        try await channel.closeFuture.get()
    }

    fileprivate func receive(_ event: String, id: String, _ data: [UInt8]) {
        let now = ContinuousClock.now
        state.withLock { state in
            do {
                try state.receive(event, id: id, data, at: now)
            } catch {
                state.record.faults.append("\(event) \(id) cannot be read: \(error)")
            }
        }
    }
}

extension TrialReader.State {
    private struct Operation: Decodable {
        let index: UInt64
        let author: String
        let ref: UInt64?
        let late: Bool?
        let digest: String
    }

    fileprivate mutating func receive(
        _ event: String, id: String, _ data: [UInt8], at now: ContinuousClock.Instant
    ) throws {
        switch event {
        case "board":
            record.take(try TrialBoard(data), at: now)
            lastID = id
        case "op":
            let text = String(decoding: data, as: UTF8.self)
            let parts = text.split(separator: #","message":"#, maxSplits: 1)
            guard parts.count == 2 else { throw Unexpected("no message") }
            let operation = try JSONDecoder().decode(Operation.self, from: Data("\(parts[0])}".utf8))
            record.rooms.insert(String(id.prefix { $0 != ":" }))
            if id.split(separator: ":").last.flatMap({ UInt64($0) }) != operation.index {
                record.faults.append("\(operation.index) has the id \(id)")
            }
            // A stream has no repeats, and nothing is left out.
            if operation.index != record.index + 1 {
                record.faults.append("\(operation.index) came after \(record.index)")
            }
            record.append(
                Sighting(
                    at: now, index: operation.index, author: operation.author, reference: operation.ref,
                    digest: operation.digest, isLate: operation.late ?? false, isTail: false,
                    content: .bytes(Array(parts[1].dropLast().utf8))))
            lastID = id
        default: break
        }
    }
}

/// Takes an event stream apart by lines. Each event is a chunk of its own, so lines with lengths of chunks stand between events.
private final class EventStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let reader: TrialReader
    /// What has no line end yet.
    private var rest: [UInt8] = []
    private var isFirstLine = true
    private var event = ""
    private var id = ""
    private var data: [UInt8] = []

    init(_ reader: TrialReader) {
        self.reader = reader
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest += Array(buffer: unwrapInboundIn(data))
        var start = 0
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[start..<end], context)
            start = end + 1
        }
        rest.removeFirst(start)
    }

    private func take(_ line: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        if isFirstLine {
            isFirstLine = false
            // Such as 503 while too many join.
            if !line.starts(with: "HTTP/1.1 200".utf8) { context.close(promise: nil) }
        } else if line.starts(with: "event: ".utf8) {
            event = String(decoding: line.dropFirst(7), as: UTF8.self)
        } else if line.starts(with: "id: ".utf8) {
            id = String(decoding: line.dropFirst(4), as: UTF8.self)
        } else if line.starts(with: "data: ".utf8) {
            data = Array(line.dropFirst(6))
        } else if line.isEmpty {
            if !event.isEmpty { reader.receive(event, id: id, data) }
            (event, id, data) = ("", "", [])
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
