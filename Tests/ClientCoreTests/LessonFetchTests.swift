import StrokeWire
import Testing

@testable import ClientCore

@Suite struct `A lesson that is fetched in parts` {
    private static let board =
        ##""board":{"room":"life","index":0,"digest":"0000000000000000","palette":["#000000"],"style":"smooth","##
        + ##""board":{"w":400,"h":300},"visible":[],"redo":[]},"##

    /// A part with one operation.
    private func part(_ index: Int, hasBoard: Bool = false) throws -> ReplayReply {
        let operation =
            "{\"ep\":0,\"e\":null,\"index\":\(index),\"author\":\"ann\",\"message\":{\"n\":\(index),\"a\":4}}"
        let text =
            "{\"room\":\"life\",\"epochs\":[],\(hasBoard ? Self.board : "")\"ops\":[\(operation)],\"next\":\(index)}"
        return try ReplayReply(decoding: Array(text.utf8))
    }

    @Test func `has 256 MiB of whole replies at most, however small their operations are`() throws {
        var fetch = LessonFetch()
        for index in 1...4 { try fetch.receive(try part(index, hasBoard: index == 1), bytes: 64 << 20) }
        let before = fetch.request
        let next = try part(5)
        #expect(throws: MalformedRelease.self) { try fetch.receive(next, bytes: 64 << 20) }
        #expect(fetch.request == before && fetch.fetched == 4)
    }

    @Test func `has a board at its beginning alone`() throws {
        var fetch = LessonFetch()
        try fetch.receive(try part(1, hasBoard: true), bytes: 1000)
        let (wrong, right) = (try part(2, hasBoard: true), try part(2))
        #expect(throws: MalformedRelease.self) { try fetch.receive(wrong, bytes: 1000) }
        #expect(fetch.fetched == 1)
        try fetch.receive(right, bytes: 1000)
        #expect(fetch.fetched == 2)
    }
}
