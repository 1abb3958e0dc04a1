import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

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
