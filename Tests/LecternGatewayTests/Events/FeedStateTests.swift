import ClientCore
import NIOCore
import StrokeWire
import Testing

@testable import LecternGateway

/// When a feed joins, and what its readers start with; in virtual time.
@Suite struct FeedStateTests {
    private typealias Feed = FeedState<String>

    /// A feed of a room with four operations, which it has joined.
    private struct JoinedFeed {
        var state = Feed(ByteBudget(1 << 20))

        init() {
            let asked = perform { $0.connected(at: .zero, into: &$1) }
            _ = answer(asked, .board(.wet([])), at: .zero)
        }

        mutating func perform(_ body: (inout Feed, inout [Feed.Action]) -> Void) -> [Feed.Action] {
            var actions: [Feed.Action] = []
            body(&state, &actions)
            return actions
        }

        /// The room answers what was asked.
        mutating func answer(_ asked: [Feed.Action], _ content: FeedJoin.Content, at now: Duration) -> [Feed.Action] {
            let join = FeedJoin(
                position: FeedPosition(room: "life", index: 4), digest: .empty, gate: nil, content: content)
            return perform { feed, actions in
                for case .join(_, let ticket) in asked { feed.joined(join, ticket, at: now, into: &actions) }
            }
        }

        mutating func add(_ reader: String, has index: UInt64? = nil) -> [Feed.Action] {
            perform { $0.add(reader, have: index.map { FeedPosition(room: "life", index: $0) }, into: &$1) }
        }

        mutating func release(_ index: UInt64) throws {
            let headers = [
                HeaderName.index: "\(index)", HeaderName.room: "life", HeaderName.author: "anna",
                HeaderName.digest: "0000000000000000",
            ]
            let message = try ReleasedMessage(bytes: Array(#"{"n":1,"a":4}"#.utf8)) { headers[$0] }
            _ = perform { $0.receive(message, at: .zero, into: &$1) }
        }
    }

    private func texts(_ actions: [Feed.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send: "event"
            case .reset: "reset"
            case .attach(let reader, let events, after: let index): "\(reader): \(events.count) after \(index)"
            case .refuse(let reader, _): "\(reader): refused"
            case .join(let request, _): "join after \(request.have ?? 0)"
            }
        }
    }

    @Test func `a reader ahead of what is released gets nothing until that has passed it`() {
        var feed = JoinedFeed()
        let asked = feed.add("li", has: 8)
        #expect(texts(asked) == ["join after 8"])
        #expect(texts(feed.answer(asked, .tail(.wet([])), at: .zero)) == ["li: 0 after 8"])
    }

    @Test func `readers who have missed the same operations share a join`() {
        var feed = JoinedFeed()
        let asked = feed.add("li", has: 2)
        #expect(texts(asked) == ["join after 2"])
        #expect(texts(feed.add("ada", has: 2)) == [])
        #expect(texts(feed.answer(asked, .tail(.wet([])), at: .zero)) == ["li: 1 after 2", "ada: 1 after 2"])
    }

    @Test func `readers who come one after the other share one board, and what was released between them`() throws {
        func starts(_ actions: [Feed.Action]) -> [[ByteBuffer]] {
            actions.compactMap { action in
                guard case .attach(_, let events, after: 0) = action else { return nil }
                return events.map { $0.bytes(isCompressed: true, isChunked: true) }
            }
        }
        var feed = JoinedFeed()
        let first = try #require(starts(feed.add("li")).first)
        #expect(first.count == 1)
        try feed.release(5)
        let second = try #require(starts(feed.add("ada")).first)
        #expect(second.count == 2 && second.first == first.first)
        #expect(starts(feed.add("ines")) == [second])
    }

    @Test func `joins for an operation that does not come become rarer, down to one in 4 s`() throws {
        var feed = JoinedFeed()
        var now = Duration.zero
        let mark = Mark(room: "life", index: 5, digest: .empty, video: nil)
        _ = feed.perform { $0.receive(mark, at: now, into: &$1) }
        var waits: [Duration] = []
        for _ in 0..<7 {
            let deadline = try #require(feed.state.deadline)
            waits.append(deadline - now)
            now = deadline
            let asked = feed.perform { $0.wake(at: now, into: &$1) }
            #expect(texts(asked) == ["join after 4"])
            _ = feed.answer(asked, .operations([]), at: now)
        }
        #expect(waits == [250, 500, 1000, 2000, 4000, 4000, 4000].map { .milliseconds($0) })
    }
}
