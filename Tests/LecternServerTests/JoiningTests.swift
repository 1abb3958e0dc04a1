import Dispatch
import Ink
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct JoiningTests {
    private func join(
        _ service: RunningService, _ address: RoomAddress, _ request: JoinRequest = JoinRequest(),
        _ subject: RoomSubject = .join(.main)
    ) async throws -> JoinReply {
        try JoinReply(
            decoding: try await service.client.answer(request.encoded(), from: address.subject(subject)))
    }

    @Test func `the head is joined on a subject of its own, and is ahead of the released operations`() async throws {
        let configuration = ServerConfiguration.test { ($0.style, $0.tip) = (.stamp, .marker) }
        try await RunningService.withRoom("head-joined", configuration) { service, address, hand in
            let head = try await Inbox(service.client, address.subject(.head))
            for number in 1...3 { try hand.publish(Hand.stroke(number, at: number * 1000)) }
            let room = try #require(try await head.next(3).last?.room)
            let students = try await Inbox(service.client, address.subject(.out(.main)))
            try service.client.setClock(address, 1500)
            _ = try await students.next(1)
            let whole = try await join(service, address, JoinRequest(), .joinHead)
            #expect(try whole.visible.map(\.index) == [1, 2, 3])
            #expect(whole.index == 3 && whole.digest == BoardDigest(of: [1, 2, 3]))
            #expect(whole.style == "stamp-marker" && !whole.isProvisional)
            let rest = try await join(service, address, JoinRequest(incarnation: room, have: 1), .joinHead)
            let operations = try rest.tail
            #expect(operations.map(\.index) == [2, 3])
            #expect(operations.map(\.digest) == [BoardDigest(of: [1, 2]), BoardDigest(of: [1, 2, 3])])
            #expect(try await join(service, address).index == 1)

            let released = try await service.client.answer(from: address.subject(.image(.main)))
            let all = try await service.client.answer(from: address.subject(.imageHead))
            #expect(all.starts(with: [0x89, 0x50, 0x4e, 0x47]) && all != released)
        }
    }

    @Test func `bad requests are answered with the reason, and only on inboxes`() async throws {
        try await RunningService.withRoom("strict", .test { $0.room.cohorts.open = false }) { service, address, _ in
            func ask(_ body: String, _ subject: String) async throws -> RequestError? {
                RequestError(
                    decoding: try await service.client.request(Array(body.utf8), to: subject, timeout: .hangLimit)
                        .payload)
            }
            guard let other = CohortName("other") else { throw Unexpected("no name") }
            #expect(try await ask("{}", address.subject(.join(other)))?.code == .unknownCohort)
            for bad in [#"{"have":"x"}"#, #"{"encoding":"xml"}"#] {
                #expect(try await ask(bad, address.subject(.join(.main)))?.code == .badRequest)
            }
            #expect(try await ask(#"{"width":0}"#, address.subject(.image(.main)))?.code == .badRequest)
            #expect(try await ask("", address.subject(.image(.main)))?.code == .unknownRoom)

            let victim = try await Inbox(service.client, "somebody.else")
            try service.client.publish(Array("{}".utf8), to: address.subject(.join(.main)), reply: "somebody.else")
            #expect(try await ask("{}", address.subject(.join(other)))?.code == .unknownCohort)
            try service.client.publish([7], to: "somebody.else")
            #expect(try await victim.next().payload == [7])
        }
    }
}

@Suite struct JoinQueueTests {
    private func queue(requests: Int = 100, turnBytes: Int = 4 << 20) -> (JoinQueue, ReplyRecorder) {
        let recorder = ReplyRecorder()
        let queue = JoinQueue(
            ServerConfiguration(), budget: ReplyBudget(requests: requests, bytes: 64 << 20, turnBytes: turnBytes),
            sink: recorder.sink)
        return (queue, recorder)
    }

    @Test func `equal joins that wait share one reply, of the newest board among them`() async throws {
        let (queue, recorder) = queue()
        var drawn = try DrawnRoom(strokes: 1)
        let id = try RoomID.test("room")
        #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "busy"))
        _ = try await recorder.next()
        for number in 1...8 {
            #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "\(number)"))
            try drawn.draw()
        }
        #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "9"))
        recorder.open(10)
        let answers = try await recorder.next(9)
        let newest = drawn.catchUp.encoded(palette: .standard, style: "smooth", features: .all, as: .json)
        #expect(answers.keys.sorted() == (1...9).map(String.init))
        #expect(answers.values.allSatisfy { $0 == .sent(newest) })
        queue.close()
        #expect(queue.isIdle)
    }

    @Test func `joins that ask for different forms get a reply each`() async throws {
        let (queue, recorder) = queue()
        let drawn = try DrawnRoom(strokes: 1)
        let id = try RoomID.test("room")
        for encoding in WireEncoding.allCases {
            #expect(
                queue.answer(
                    drawn.catchUp, of: id, .cohort(.main), to: JoinRequest(encoding: encoding), reply: encoding.rawValue
                ))
        }
        recorder.open(2)
        let answers = try await recorder.next(2)
        for encoding in WireEncoding.allCases {
            let reply = drawn.catchUp.encoded(
                palette: .standard, style: "smooth", features: .all, as: encoding)
            #expect(answers[encoding.rawValue] == .sent(reply))
        }
        queue.close()
        #expect(queue.isIdle)
    }

    @Test func `many who wait for one large board hold up no other reply for longer than a turn`() async throws {
        let drawn = try DrawnRoom(strokes: 20)
        let size = drawn.catchUp.encoded(palette: .standard, style: "smooth", features: .all, as: .json).count
        let (queue, recorder) = queue(turnBytes: 2 * size)
        let id = try RoomID.test("room")
        // The thread is busy until the gate opens. All views of a room have the same thread.
        #expect(queue.answer(drawn.catchUp, of: id, .cohort(try #require(CohortName("busy"))), reply: "busy"))
        _ = try await recorder.next()
        for number in 1...7 { #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "\(number)")) }
        #expect(queue.answer(drawn.catchUp, of: id, .head, reply: "other"))
        var order: [String] = []
        for _ in 1...8 {
            recorder.open(1)
            order += try await recorder.next().keys
        }
        #expect(order == ["1", "2", "other", "3", "4", "5", "6", "7"])
        recorder.open(1)
        queue.close()
        #expect(queue.isIdle)
    }

    @Test func `a join beyond the bound of its room is refused, and one of another room is answered`() async throws {
        let (queue, recorder) = queue(requests: 4)
        let drawn = try DrawnRoom(strokes: 1)
        let (loud, quiet) = (try RoomID.test("loud"), try RoomID.test("quiet"))
        #expect(queue.answer(drawn.catchUp, of: loud, .cohort(.main), reply: "0"))
        _ = try await recorder.next()
        #expect(queue.answer(drawn.catchUp, of: loud, .cohort(.main), reply: "1"))
        #expect(!queue.answer(drawn.catchUp, of: loud, .cohort(.main), reply: "2"))
        #expect(queue.answer(drawn.catchUp, of: quiet, .cohort(.main), reply: "quiet"))
        recorder.open(3)
        let answers = try await recorder.next(3)
        #expect(answers["2"] == .refused(.busy))
        #expect(answers["1"]?.error == nil && answers["quiet"] != nil && answers["quiet"]?.error == nil)
        queue.close()
        #expect(queue.isIdle)
    }

    @Test func `requests that wait are bounded, of one room by half`() throws {
        var budget = ReplyBudget<RoomID>(requests: 8, bytes: 1000)
        let rooms = try ["loud", "quiet", "other"].map { try RoomID.test($0) }
        let taken = rooms.map { room in (1...20).count { _ in budget.reserve(room, bytes: 0) } }
        #expect(taken == [4, 4, 0])
        budget.release(rooms[0], requests: 1, bytes: 0)
        let more = (1...20).count { _ in budget.reserve(rooms[2], bytes: 0) }
        #expect(more == 1)
    }

    @Test func `bytes that wait are bounded, of one room by half, and a single reply is always accepted`() throws {
        var budget = ReplyBudget<RoomID>(requests: 100, bytes: 1000)
        let (large, small, other) = (try RoomID.test("large"), try RoomID.test("small"), try RoomID.test("other"))
        let first = budget.reserve(large, bytes: 5000)
        #expect(first, "nothing else waits")
        let second = budget.reserve(small, bytes: 1)
        #expect(!second)
        budget.release(large, requests: 1, bytes: 5000)

        let taken = [
            budget.reserve(small, bytes: 400), budget.reserve(small, bytes: 200), budget.reserve(small, bytes: 0),
            budget.reserve(other, bytes: 500), budget.reserve(large, bytes: 200),
        ]
        #expect(taken == [true, false, true, true, false])
        budget.release(small, requests: 2, bytes: 400)
        budget.release(other, requests: 1, bytes: 500)
        #expect(budget.isUnused)
    }

    @Test func `closing refuses the joins that wait`() async throws {
        let (queue, recorder) = queue()
        let drawn = try DrawnRoom(strokes: 1)
        let id = try RoomID.test("room")
        #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "first"))
        _ = try await recorder.next()
        #expect(queue.answer(drawn.catchUp, of: id, .cohort(.main), reply: "second"))
        let closing = DispatchQueue(label: "closing")
        closing.async { queue.close() }
        try await eventually("it is closing", is: queue.isClosing)
        recorder.open(2)
        #expect(try await recorder.next() == ["second": .refused(.shuttingDown)])
        closing.sync {}
        #expect(queue.isIdle)
    }
}

@Suite struct WaitingRequestsTests {
    private let start = Instant(nanoseconds: 0)

    private func request(
        _ room: String, _ kind: RoomRequest.Kind = .join(.cohort(.main)), payload: Int = 0, at arrivedAt: Instant? = nil
    ) throws -> RoomRequest {
        let address = try ServerConfiguration().address(room)
        return RoomRequest(
            kind: kind, address: address, payload: Array(repeating: 0, count: payload), reply: "_INBOX.r",
            arrivedAt: arrivedAt ?? start)
    }

    @Test func `a request put back again and again expires five seconds after its arrival`() throws {
        var waiting = WaitingRequests(limit: 10_000)
        let request = try request("algebra")
        var isAdded = waiting.add(request, at: start)
        #expect(isAdded)
        for tick in 1...9 {
            let now = start + .milliseconds(500 * tick)
            let taken = waiting.take(request.address.room, at: now)
            #expect(taken.count == 1)
            for request in taken {
                isAdded = waiting.add(request, at: now)
                #expect(isAdded)
            }
        }
        let late = waiting.take(request.address.room, at: start + .seconds(5))
        #expect(late.isEmpty)
        #expect(waiting.rooms.isEmpty)
    }

    @Test func `beyond the limit in bytes a request is refused, until one that waits is taken`() throws {
        var waiting = WaitingRequests(limit: 3000)
        let entries = try ["algebra", "botany", "chess"].map { try request($0, payload: 1000) }
        let added = entries.map { waiting.add($0, at: start) }
        #expect(added == [true, true, false])
        let taken = waiting.take(entries[0].address.room, at: start)
        #expect(taken.count == 1)
        let isAdded = waiting.add(entries[2], at: start)
        #expect(isAdded)
    }

    @Test func `a request that is too large waits with no more than it takes to refuse it`() throws {
        let request = try request("algebra", payload: 1 << 20)
        #expect(request.cost < 5000)
        #expect(throws: Rejection.self) { try JoinRequest(decoding: request.payload) }
    }

    @Test func `waiting pictures and waiting joins have separate bounds`() throws {
        var waiting = WaitingRequests(limit: 3000)
        var picture = true
        while picture { picture = waiting.add(try request("algebra", .image(.cohort(.main)), payload: 100), at: start) }
        var join = waiting.add(try request("algebra"), at: start)
        #expect(join)
        while join { join = waiting.add(try request("algebra"), at: start) }
        _ = waiting.take(try request("algebra").address.room, at: start)
        #expect(waiting.add(try request("algebra", .image(.cohort(.main))), at: start))
    }

    @Test func `expired requests make space for new ones`() throws {
        var waiting = WaitingRequests(limit: 1000)
        while waiting.add(try request("algebra"), at: start) {}
        let later = start + .seconds(5)
        #expect(waiting.add(try request("botany", at: later), at: later))
        #expect(waiting.rooms.map(\.text) == ["botany"])
    }
}
