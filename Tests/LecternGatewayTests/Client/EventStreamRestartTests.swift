import Testing

@testable import LecternHTTPClient

extension EventStreamStateTests {
    @Test("a contradiction that is found without a connection begins anew as well, when there is one again")
    func restartOffline() throws {
        var state = EventStreamState(eventLimit: 1000)
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
        var state = EventStreamState(eventLimit: 1000)
        _ = state.connect(at: .zero)
        let actions = state.received(Array("event: op\nid: r:1\ndata: {}\n\n".utf8), 1, at: .seconds(1))
        _ = state.inputLost(at: .seconds(1))
        for case .event(let event) in actions { state.took(event) }
        _ = state.restart(GatewayError("diverged", ""), at: .seconds(1))
        #expect(state.wake(at: try #require(state.deadline)).last == .connect(2, lastEventID: nil))
    }
}
