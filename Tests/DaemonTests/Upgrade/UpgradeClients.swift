import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// Reads a room's server-sent events by curl, as an `EventSource` does: comes back with the last id when its daemon ends.
final class EventStreamReader: Sendable {
    struct Position: Sendable {
        var index: UInt64 = 0
        var digest = ""
        var id = ""
        var connections = 0
        /// Operations that came twice, or not at all.
        var faults: [String] = []
    }

    let room: String
    private let port: @Sendable () -> Int?
    private let state = Locked(Position())
    private let isStopped = Locked(false)

    /// - Parameter port: of a daemon that serves HTTP.
    init(room: String, port: @escaping @Sendable () -> Int?) {
        self.room = room
        self.port = port
    }

    var position: Position { state.withLock { $0 } }

    func stop() { isStopped.withLock { $0 = true } }

    /// Follows the head of the log until it is stopped.
    func follow() async {
        while !isStopped.withLock({ $0 }) {
            guard let port = port(),
                let curl = try? LecternProcess(
                    [
                        "-sN", "-H", "Last-Event-ID: \(position.id)",
                        "http://127.0.0.1:\(port)/api/rooms/\(room)/events?cohort=head",
                    ], program: "curl", at: "/usr/bin/curl")
            else {
                try? await Task.sleep(for: .milliseconds(50))
                continue
            }
            state.withLock { $0.connections += 1 }
            var read = 0
            while !isStopped.withLock({ $0 }) {
                let hasEnded = curl.hasExited
                let events = curl.log.components(separatedBy: "\n\n").dropLast()
                for event in events.dropFirst(read) { take(event) }
                read = events.count
                if hasEnded { break }
                try? await Task.sleep(for: .milliseconds(50))
            }
            await curl.end(timeout: .zero)
        }
    }

    private struct Data: Decodable {
        let index: UInt64?
        let digest: String?
    }

    private func take(_ event: String) {
        var fields: [String: String] = [:]
        for line in event.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { continue }
            fields[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        guard let kind = fields["event"], kind == "op" || kind == "board", let body = fields["data"],
            let data = try? JSONDecoder().decode(Data.self, from: Foundation.Data(body.utf8)), let index = data.index
        else { return }
        state.withLock { state in
            if kind == "op", index != state.index + 1 { state.faults.append("\(index) after \(state.index)") }
            if kind == "board", index < state.index { state.faults.append("board \(index) after \(state.index)") }
            (state.index, state.digest) = (index, data.digest ?? "")
            state.id = fields["id"] ?? state.id
        }
    }
}

/// A teacher of a room with pages, and its model: a board for each page.
final class PagesTeacher: Sendable {
    static let room = "book"

    private struct Book: Sendable {
        var pages = ModelPages()
        var index: UInt64 = 0
        var isStopped = false

        var digest: String { plainDigestText(pages.visible) }
    }

    let address: RoomAddress
    private let book = Locked(Book())
    private let link: LossyLink

    init(_ connection: NATSConnection, partitions: Int) throws {
        guard let room = RoomID(Self.room) else { throw Unexpected("no name: \(Self.room)") }
        address = RoomAddress(root: "ink", room: room, partitions: partitions)
        link = LossyLink(connection: connection, subject: "\(address).in.eve")
    }

    /// The index and the digest that the room must have.
    var state: (index: UInt64, digest: String) { book.withLock { ($0.index, $0.digest) } }

    func stop() { book.withLock { $0.isStopped = true } }

    func goesOn() async throws {
        let before = state.index
        try await eventually("pages are written", is: state.index > before + 4)
    }

    /// Draws, turns pages, undoes and redoes until it is stopped, one acknowledged operation after another.
    func write() async throws {
        var random = SeededGenerator(seed: 5)
        var number = 0
        while !book.withLock({ $0.isStopped }) {
            number += 1
            let page = random.int(0..<4)
            let action = number < 3 ? 1 : [1, 1, 1, 1, 2, 2, 3, 5][random.int(0..<8)]
            let points = action == 1 ? #","d":[{"x":\#(number % 700),"y":9},{"x":80,"y":\#(number % 700)}]"# : ""
            let body = #"{"n":\#(number),"a":\#(action),"g":\#(page),"t":0\#(points)}"#
            try await link.send(body, id: "eve-\(number)")
            book.withLock { book in
                switch action {
                case 2: if book.pages.undo(by: "eve", on: page) == nil { return }
                case 3: if book.pages.redo(by: "eve", on: page) == nil { return }
                case 5: book.pages.turn(to: page)
                default: book.pages.draw(book.index + 1, by: "eve", on: page)
                }
                book.index += 1
            }
            try await Task.sleep(for: .milliseconds(60))
        }
    }
}
