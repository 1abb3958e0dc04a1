import CZlib
import Foundation
import Glibc
import Locking
import NATSClient
import StrokeWire
import TestSupport
import Testing

/// A server-sent event as a client reads it.
struct ServerSentEvent: Sendable, Equatable {
    var name = ""
    var id: String?
    var data = ""

    /// The data as JSON, in a form that can be compared.
    var json: NSDictionary {
        get throws { try JSONSerialization.jsonObject(with: Data(data.utf8)) as? NSDictionary ?? [:] }
    }

    /// The index in the data.
    var index: Int? { get throws { (try json["index"] as? NSNumber)?.intValue } }
}

/// Reads an event stream over a connection of its own, on a thread of its own.
final class EventStreamClient: Sendable {
    private let connection: RawConnection
    private let events: AsyncStream<ServerSentEvent>
    /// Text that came outside of events: the head of the response, comments.
    private let rest = Locked("")

    /// Sends a request and reads the answer until the stream ends.
    init(port: Int, _ path: String, headers: [String: String] = [:]) throws {
        connection = try RawConnection(port: port)
        let lines = headers.map { "\($0): \($1)\r\n" }.joined()
        guard connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(lines)\r\n") else {
            throw Unexpected("not connected")
        }
        let (events, arrivals) = AsyncStream.makeStream(of: ServerSentEvent.self)
        self.events = events
        let (connection, rest) = (connection, rest)
        Thread.detachNewThread {
            var parser = EventStreamParser()
            while let bytes = connection.readSome() {
                parser.receive(bytes)
                for event in parser.takeEvents() { arrivals.yield(event) }
                rest.withLock { $0 = parser.rest }
            }
            arrivals.finish()
        }
    }

    deinit { connection.close() }

    /// The head of the response and the comments so far.
    var other: String { rest.withLock { $0 } }

    /// The next event; throws when none comes in time or the stream has ended.
    func next(within limit: Duration = .hangLimit) async throws -> ServerSentEvent {
        let events = events
        return try await withDeadline(limit) {
            for await event in events { return event }
            throw Unexpected("the stream has ended: \(self.other)")
        }
    }

    /// The next event that is no mark.
    func nextOperation(within limit: Duration = .hangLimit) async throws -> ServerSentEvent {
        while true {
            let event = try await next(within: limit)
            if event.name != "mark" { return event }
        }
    }

    /// The next events that are no marks.
    func next(_ count: Int) async throws -> [ServerSentEvent] {
        var all: [ServerSentEvent] = []
        while all.count < count { all.append(try await nextOperation()) }
        return all
    }

    /// Waits until the stream ends.
    func ended() async throws {
        let events = events
        try await withDeadline(.seconds(20)) { for await _ in events {} }
    }

    func close() { connection.close() }
}

/// What the service sends to readers of the room r.
extension RunningGateway {
    /// Publishes an operation.
    func release(_ index: Int, of room: String = "life", message: String = #"{"n":1,"a":4}"#) throws {
        try service.connection.publish(
            Array(message.utf8), to: "ink.0.r.out.main",
            headers: [
                HeaderName.index: "\(index)", HeaderName.room: room, HeaderName.author: "anna",
                HeaderName.digest: "0000000000000000",
            ])
    }

    /// Publishes a mark.
    func mark(_ index: Int, of room: String = "life", digest: String = "0000000000000000") throws {
        let mark = #"{"room":"\#(room)","index":\#(index),"digest":"\#(digest)","v":null}"#
        try service.connection.publish(Array(mark.utf8), to: "ink.0.r.mark.main")
    }
}

/// Decompresses a gzip stream as it comes.
private final class Inflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() {
        stream.initialize(to: z_stream())
        // 16 more than the window: with a gzip header.
        inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func inflate(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var input = Array(bytes)
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let count = room.withUnsafeMutableBufferPointer { room in
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    let status = CZlib.inflate(stream, Z_SYNC_FLUSH)
                    #expect(status == Z_OK || status == Z_BUF_ERROR, "the gzip stream is damaged")
                    return room.count - Int(stream.pointee.avail_out)
                }
                output += room[..<count]
            } while stream.pointee.avail_out == 0
        }
        return output
    }
}

/// Takes a chunked HTTP response with an event stream apart.
private struct EventStreamParser {
    private var inflater: Inflater?
    private var raw: [UInt8] = []
    private var hasHead = false
    private var text: [UInt8] = []
    private(set) var rest = ""

    mutating func receive(_ bytes: [UInt8]) {
        raw += bytes
        if !hasHead, let end = Self.find("\r\n\r\n", in: raw) {
            rest += String(decoding: raw[..<end], as: UTF8.self)
            raw.removeFirst(end + 4)
            hasHead = true
            if rest.lowercased().contains("content-encoding: gzip") { inflater = Inflater() }
        }
        guard hasHead else { return }
        while let line = Self.find("\r\n", in: raw),
            let size = Int(String(decoding: raw[..<line], as: UTF8.self), radix: 16), raw.count >= line + 2 + size + 2
        {
            let chunk = raw[(line + 2)..<(line + 2 + size)]
            text += inflater?.inflate(chunk) ?? Array(chunk)
            raw.removeFirst(line + 2 + size + 2)
        }
    }

    mutating func takeEvents() -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        while let end = Self.find("\n\n", in: text) {
            let block = String(decoding: text[..<end], as: UTF8.self)
            text.removeFirst(end + 2)
            var event = ServerSentEvent()
            for line in block.split(separator: "\n") {
                let (field, value) = Self.split(line)
                switch field {
                case "event": event.name = value
                case "id": event.id = value
                case "data": event.data += value
                default: rest += "\n\(line)"
                }
            }
            if !event.name.isEmpty { events.append(event) }
        }
        return events
    }

    private static func split(_ line: Substring) -> (field: String, value: String) {
        guard let colon = line.firstIndex(of: ":") else { return (String(line), "") }
        var value = line[line.index(after: colon)...]
        if value.first == " " { value.removeFirst() }
        return (String(line[..<colon]), String(value))
    }

    private static func find(_ text: String, in bytes: [UInt8]) -> Int? {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return nil }
        for start in 0...(bytes.count - wanted.count)
        where bytes[start] == wanted[0] && bytes[start..<(start + wanted.count)].elementsEqual(wanted) { return start }
        return nil
    }
}
