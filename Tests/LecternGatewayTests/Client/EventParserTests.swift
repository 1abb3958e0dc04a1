import TestSupport
import Testing

@testable import LecternHTTPClient

private typealias Event = LecternHTTPClient.ServerSentEvent

@Suite("Server-sent events as a client reads them") struct EventParserTests {
    private func events(of parts: [[UInt8]], limit: Int = 1 << 20) throws -> [Event] {
        var parser = EventParser(limit: limit)
        var events: [Event] = []
        for part in parts { try parser.add(part) { events.append($0) } }
        return events
    }

    private func events(of text: String) throws -> [Event] { try events(of: [Array(text.utf8)]) }

    private func event(_ type: String, _ id: String?, _ data: String) -> Event {
        Event(type: type, id: id, data: Array(data.utf8))
    }

    @Test func `fields, comments and line ends as the standard has them`() throws {
        #expect(try events(of: "event: op\nid: r:1\ndata: {}\n\n") == [event("op", "r:1", "{}")])
        #expect(try events(of: "data:a\rdata:  b\r\ndata\n\n") == [event("message", nil, "a\n b\n")])
        #expect(try events(of: ": a comment\n\nevent: op\n\ndata: x\n\n") == [event("message", nil, "x")])
        #expect(
            try events(of: "id: 1\ndata: a\n\ndata: b\n\n") == [event("message", "1", "a"), event("message", "1", "b")])
        #expect(try events(of: "id: 1\nid: a\0b\ndata: a\n\n") == [event("message", "1", "a")])
        #expect(try events(of: "\u{feff}data: a\n\n") == [event("message", nil, "a")])
        #expect(try events(of: "data: never ended\n").isEmpty)
    }

    @Test func `the wait that a server asks for is at most a minute, and nothing but digits`() throws {
        for (text, retry) in [
            ("retry: 1500", Duration.milliseconds(1500)), ("retry: 9999999999999999999999", .seconds(60)),
            ("retry: -1", nil),
            ("retry:", nil), ("retry: 10s", nil),
        ] {
            var parser = EventParser(limit: 100)
            try parser.add(Array("\(text)\n\n".utf8)) { _ in }
            #expect(parser.retry == retry, "\(text)")
        }
    }

    @Test("events are the same wherever the stream is cut", arguments: TestSeed.choose(5))
    func cuts(seed: UInt64) throws {
        var random = TestSupport.SeededGenerator(seed: seed)
        let pieces = [
            "data", ": ", ":", "\n", "\r", "\r\n", "\n\n", "event", "id", "retry", "op", "é", " ", "0", "\u{0}",
        ]
        for _ in 0..<200 {
            let text = Array((0..<random.int(0...40)).map { _ in random.pick(pieces) }.joined().utf8)
            let whole = try events(of: [text])
            var parts: [[UInt8]] = []
            var start = 0
            while start < text.count {
                let end = random.int(start + 1...min(text.count, start + 5))
                parts.append(Array(text[start..<end]))
                start = end
            }
            #expect(
                try events(of: parts) == whole,
                "seed \(seed): \(String(decoding: text, as: UTF8.self).debugDescription)")
        }
    }

    @Test func `an event beyond the limit ends the stream, also one without an end`() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 60)
        #expect(throws: EventParser.TooLarge.self) { try events(of: [long, long], limit: 100) }
        let lines = Array("data: \(String(repeating: "x", count: 40))\n".utf8)
        #expect(throws: EventParser.TooLarge.self) { try events(of: [lines, lines, lines], limit: 100) }
        #expect(try events(of: [lines + [10], lines + [10], lines + [10]], limit: 100).count == 3)
    }
}

@Suite("An event stream that is kept open") struct EventStreamStateTests {
    private let op = Array("event: op\nid: r:1\ndata: {}\n\n".utf8)

    private func connected(_ state: inout EventStreamState) {
        #expect(state.connect(at: .zero) == [.state(.connecting), .connect(1, lastEventID: nil)])
        #expect(state.opened(1, at: .seconds(1)) == [.state(.live)])
    }

    /// Wakes it at its deadline.
    private func wake(_ state: inout EventStreamState) throws -> (actions: [EventStreamState.Action], at: Duration) {
        let at = try #require(state.deadline)
        #expect(state.wake(at: at - .nanoseconds(1)).isEmpty)
        return (state.wake(at: at), at)
    }

    @Test func `a broken connection goes on after the last event that was used`() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        connected(&state)
        for action in state.received(op, 1, at: .seconds(2)) {
            guard case .event(let event) = action else { continue }
            state.took(event)
        }
        // An event that has come, but was not used.
        _ = state.received(Array("event: op\nid: r:2\ndata: {}\n\n".utf8), 1, at: .seconds(2))
        let actions = state.ended(nil, 1, at: .seconds(3))
        guard case .state(.waiting(let error, let wait)) = try #require(actions.first) else {
            throw Unexpected("\(actions)")
        }
        #expect(error.code == "unreachable" && .milliseconds(250)...(.milliseconds(500)) ~= wait)
        let (next, at) = try wake(&state)
        #expect(at == .seconds(3) + wait)
        #expect(next == [.state(.connecting), .connect(2, lastEventID: "r:1")])
        // What is left of the first connection.
        #expect(state.received(op, 1, at: at).isEmpty && state.ended(nil, 1, at: at).isEmpty)
    }

    @Test func `waits grow while nothing comes, and heed what the gateway asks for`() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        _ = state.connect(at: .zero)
        var (now, attempt) = (Duration.zero, 1)
        for most in [0.5, 1, 2, 4, 8, 15, 15, 15] {
            _ = state.ended(GatewayError("unreachable", ""), attempt, at: now)
            let wait = try #require(state.deadline) - now
            #expect(.seconds(most / 2)...(.seconds(most)) ~= wait)
            now += wait
            attempt += 1
            #expect(state.wake(at: now).last == .connect(attempt, lastEventID: nil))
        }
        _ = state.ended(GatewayError(status: 503, "not-ready", "", retryAfter: .seconds(120)), attempt, at: now)
        // All clients were told the same, and come back one after another.
        let wait = try #require(state.deadline) - now
        #expect(.milliseconds(127_500)...(.seconds(135)) ~= wait)
    }

    @Test func `an answer that does not change by itself is asked for rarely, one without permission not again`() {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        _ = state.connect(at: .zero)
        _ = state.ended(GatewayError(status: 404, "unknown-cohort", ""), 1, at: .zero)
        #expect(state.deadline == .seconds(30))
        _ = state.wake(at: .seconds(30))
        let forbidden = GatewayError(status: 403, "forbidden", "")
        #expect(state.ended(forbidden, 2, at: .seconds(31)) == [.refused(forbidden)])
    }

    @Test func `a connection without a sign of life is dead, and a comment is one`() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        connected(&state)
        #expect(state.received(Array(":\n\n".utf8), 1, at: .seconds(30)).isEmpty)
        #expect(state.wake(at: .seconds(41)).isEmpty)
        let (actions, at) = try wake(&state)
        #expect(at == .seconds(70))
        #expect(actions.first == .disconnect)
        guard case .state(.waiting(let error, _)) = try #require(actions.last) else { return }
        #expect(error.code == "timeout")
    }

    @Test func `a contradiction begins anew at once, the next ones with growing waits`() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        connected(&state)
        for action in state.received(op, 1, at: .seconds(2)) {
            if case .event(let event) = action { state.took(event) }
        }
        let error = GatewayError("diverged", "")
        #expect(
            state.restart(error, at: .seconds(2)) == [.disconnect, .state(.connecting), .connect(2, lastEventID: nil)])
        var now = Duration.seconds(2)
        var waits: [Duration] = []
        for attempt in 3...6 {
            #expect(state.restart(error, at: now).first == .disconnect)
            let deadline = try #require(state.deadline)
            waits.append(deadline - now)
            now = deadline
            #expect(state.wake(at: now).last == .connect(attempt, lastEventID: nil))
        }
        #expect(waits.last ?? .zero >= .seconds(1))
        _ = state.restart(error, at: now + .seconds(31))
        #expect(state.deadline == now + .seconds(31) + .seconds(40))
    }

    @Test func `an event that is too large, and input that was lost, end the connection`() {
        var state = EventStreamState(eventLimit: 8, seed: 1)
        connected(&state)
        #expect(state.received(op, 1, at: .seconds(1)).first == .disconnect)
        var other = EventStreamState(eventLimit: 1000, seed: 1)
        connected(&other)
        #expect(other.inputLost(at: .seconds(1)).first == .disconnect)
    }

    @Test("a contradiction that is found without a connection begins anew as well, when there is one again")
    func restartOffline() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        _ = state.connect(at: .zero)
        for action in state.received(Array("event: op\nid: r:1\ndata: {}\n\n".utf8), 1, at: .seconds(1)) {
            if case .event(let event) = action { state.took(event) }
        }
        _ = state.ended(nil, 1, at: .seconds(2))
        let deadline = try #require(state.deadline)
        #expect(state.restart(GatewayError("diverged", ""), at: .seconds(2)).isEmpty)
        #expect(state.deadline == deadline)
        #expect(state.wake(at: deadline).last == .connect(2, lastEventID: nil))
    }

    @Test func `a contradiction in the turn in which input was lost begins anew`() throws {
        var state = EventStreamState(eventLimit: 1000, seed: 1)
        _ = state.connect(at: .zero)
        let actions = state.received(Array("event: op\nid: r:1\ndata: {}\n\n".utf8), 1, at: .seconds(1))
        _ = state.inputLost(at: .seconds(1))
        for case .event(let event) in actions { state.took(event) }
        _ = state.restart(GatewayError("diverged", ""), at: .seconds(1))
        #expect(state.wake(at: try #require(state.deadline)).last == .connect(2, lastEventID: nil))
    }
}
