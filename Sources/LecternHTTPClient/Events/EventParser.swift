/// A server-sent event.
struct ServerSentEvent: Sendable, Equatable {
    let type: String
    /// Id of the last event that had one, this one or one before it; nil before the first.
    let id: String?
    let data: [UInt8]
}

/// Cuts a text stream into events, after the HTML standard's section on server-sent events.
///
/// Holds one unfinished event, of at most ``limit`` bytes.
struct EventParser: Sendable {
    /// An event is larger than the limit.
    struct TooLarge: Error {}

    /// Bytes of one event at most.
    let limit: Int
    /// What the server asks clients to wait before they come again, at most a minute; nil where it has not said.
    private(set) var retry: Duration?
    private var line: [UInt8] = []
    private var isAfterReturn = false
    private var isAtStart = true
    private var type = ""
    private var id: String?
    private var data: [UInt8]?

    /// - Parameter id: of the last event of the stream before.
    init(limit: Int, id: String? = nil) { (self.limit, self.id) = (limit, id) }

    /// Takes the next bytes, cut anywhere.
    /// - Parameter body: called with each event that is complete.
    mutating func add(_ bytes: some Collection<UInt8>, _ body: (ServerSentEvent) -> Void) throws(TooLarge) {
        var rest = bytes[...]
        while let first = rest.first {
            if isAfterReturn {
                isAfterReturn = false
                if first == UInt8(ascii: "\n") {
                    rest = rest.dropFirst()
                    continue
                }
            }
            let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            let part = rest[..<(end ?? rest.endIndex)]
            guard line.count + part.count + (data?.count ?? 0) <= limit else { throw TooLarge() }
            line.append(contentsOf: part)
            guard let end else { return }
            isAfterReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[rest.index(after: end)...]
            if let event = takeLine() { body(event) }
        }
    }

    private mutating func takeLine() -> ServerSentEvent? {
        if isAtStart {
            isAtStart = false
            // A byte order mark.
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: line.capacity <= 1 << 16) }
        if line.isEmpty { return takeEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "data":
            if data == nil { data = Array(value) } else { data?.append(contentsOf: [UInt8(ascii: "\n")] + value) }
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0):
            id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }:
            retry = .milliseconds(min(Int64(String(decoding: value, as: UTF8.self)) ?? 60_000, 60_000))
        default:
            break
        }
        return nil
    }

    private mutating func takeEvent() -> ServerSentEvent? {
        defer { (type, data) = ("", nil) }
        return data.map { ServerSentEvent(type: type.isEmpty ? "message" : type, id: id, data: $0) }
    }
}
