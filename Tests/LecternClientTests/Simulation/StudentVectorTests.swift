import LecternClient
import StrokeWire
import TestSupport
import Testing

/// The protocol's test vectors of students: what a client receives, what it asks for, and which board it has.
@Suite struct `The protocol's test vectors of students` {
    @Test func `ask, show and have the stated boards`() throws {
        for vector in try ProtocolVectors.cases("students.json", of: StudentVector.self, atLeast: 15) {
            var run = StudentRun()
            for step in vector.steps {
                let seen = try run.perform(step)
                let place = Comment(rawValue: "\(vector.name), \(step.at) ms")
                #expect(seen.asks == (try (step.asks ?? []).map { try AnyJSON.decode(Array($0.utf8)) }), place)
                if let index = step.index { #expect(run.session.board.index == index, place) }
                if let visible = step.visible {
                    #expect(run.session.board.visible.map(\.index) == visible, place)
                    #expect(run.session.digest == BoardDigest(of: visible), place)
                }
                if let shows = step.shows { #expect(seen.shows == shows, place) }
            }
        }
    }
}

/// A session that is given the steps of a vector.
private struct StudentRun {
    private(set) var session = StudentSession()
    private var ticket = 0

    /// Passes the time up to a step, then performs it.
    /// - Returns: the join requests and the operations applied one by one meanwhile.
    mutating func perform(_ step: StudentVector.Step) throws -> (asks: [AnyJSON], shows: [UInt64]) {
        let now = Duration.milliseconds(step.at)
        var actions: [StudentAction] = []
        while let deadline = session.deadline, deadline <= now { actions += session.wake(at: deadline) }
        if let isConnected = step.connected {
            if isConnected { actions += session.connected(at: now) } else { session.disconnected() }
        }
        if let headers = step.headers {
            let body = Array(try #require(step.body).utf8)
            actions += session.receive(try ReleasedMessage(bytes: body) { headers[$0] }, at: now)
        }
        if let mark = step.mark { actions += session.receive(try Mark(decoding: Array(mark.utf8)), at: now) }
        if let reply = step.reply { actions += try receive(Array(reply.utf8), at: now) }
        var seen: (asks: [AnyJSON], shows: [UInt64]) = ([], [])
        for action in actions {
            switch action {
            case .join(let request, let ticket):
                self.ticket = ticket
                seen.asks.append(try AnyJSON.decode(request.encoded()))
            case .emit(.applied(let operation, _, _)): seen.shows.append(operation.index)
            case .emit: break
            }
        }
        return seen
    }

    private mutating func receive(_ reply: [UInt8], at now: Duration) throws -> [StudentAction] {
        if reply.isEmpty { return session.joinFailed(.unanswered("no reply in time"), ticket: ticket, at: now) }
        if let error = RequestError(decoding: reply) {
            return session.joinFailed(.refused(error.message), ticket: ticket, at: now)
        }
        return session.joined(try JoinReply(decoding: reply), ticket: ticket, at: now)
    }
}

private struct StudentVector: Decodable {
    struct Step: Decodable {
        let at: Int
        let connected: Bool?
        let headers: [String: String]?
        let body: String?
        let reply: String?
        let mark: String?
        let asks: [String]?
        let index: UInt64?
        let visible: [UInt64]?
        let shows: [UInt64]?
    }

    let name: String
    let steps: [Step]
}
