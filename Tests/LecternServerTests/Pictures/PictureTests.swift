import Dispatch
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct PictureTests {
    /// Holds up the threads that send pictures until it is opened.
    private final class Gate: Sendable {
        static let replies = "_INBOX.pictures"

        private let semaphore = DispatchSemaphore(value: 0)
        private let held: AsyncStream<Void>
        private let hold: AsyncStream<Void>.Continuation

        init() { (held, hold) = AsyncStream.makeStream() }

        func sink(before next: ReplySink) -> ReplySink {
            ReplySink(
                send: { [self] bytes, headers, reply in
                    if reply.hasPrefix(Self.replies) {
                        hold.yield()
                        semaphore.wait()
                        semaphore.signal()
                    }
                    next.send(bytes, headers, reply)
                }, refuse: next.refuse)
        }

        /// Returns when a picture waits at the gate.
        func pictureIsHeld() async throws {
            let held = held
            try await withDeadline(.seconds(60)) { for await _ in held { return } }
        }

        func open() { semaphore.signal() }
    }

    private func order(_ count: Int, from client: NATSConnection, _ address: RoomAddress) throws {
        for number in 1...count {
            try client.publish(
                ImageRequest(width: 100 + number).encoded(), to: address.subject(.image(.main)),
                reply: "\(Gate.replies).\(number)")
        }
    }

    @Test func `a picture being made holds up no release`() async throws {
        let gate = Gate()
        try await RunningService.withRoom("busy", replies: gate.sink) { service, address, hand in
            defer { gate.open() }
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let pictures = try await Inbox(service.client, "\(Gate.replies).*")
            try service.client.setClock(address, 1000)
            for number in 1...4 { try hand.publish(scribble(number)) }
            _ = try await out.next(4)

            try order(8, from: service.client, address)
            try await gate.pictureIsHeld()
            for number in 5...20 {
                try hand.publish(Hand.stroke(number, at: 0))
                #expect(try await out.next().index == String(number))
            }
            gate.open()
            for picture in try await pictures.next(8) {
                #expect(picture.payload.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            }
        }
    }

    @Test func `requests for pictures keep nobody from joining`() async throws {
        let gate = Gate()
        let configuration = ServerConfiguration.test { ($0.replies, $0.pictures) = (2, 2) }
        try await RunningService.withRoom("crowded", configuration, replies: gate.sink) { service, address, hand in
            defer { gate.open() }
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let pictures = try await Inbox(service.client, "\(Gate.replies).*")
            try service.client.setClock(address, 1000)
            try hand.publish(scribble(1))
            _ = try await out.next()
            // A room has half of the bound: the first picture takes it.
            try order(20, from: service.client, address)
            try await gate.pictureIsHeld()
            for refused in try await pictures.next(19) {
                #expect(RequestError(decoding: refused.payload)?.code == .notReady)
            }
            #expect(try await service.client.join(address).index == 1)
        }
    }

    /// A wide stroke across the whole board.
    private func scribble(_ number: Int) -> String {
        let points = (0..<40).map { #"{"x":\#($0 * 37 % 1000),"y":\#(($0 * 53 + number * 11) % 750)}"# }
        return #"{"n":\#(number),"l":20,"t":0,"w":1024,"h":768,"d":[\#(points.joined(separator: ","))]}"#
    }
}

@Suite struct RenderQueueTests {
    private func key(width: Int? = nil) throws -> RenderKey { try .test(PictureForm(width: width)) }

    private func queue(
        _ recorder: ReplyRecorder, requests: Int = 100, idleTime: Duration = .seconds(600)
    ) -> RenderQueue {
        let budget = ReplyBudget<RoomID>(requests: requests, bytes: 64 << 20)
        return RenderQueue(
            ServerConfiguration(), budget: budget, sink: recorder.sink, metrics: ServerMetrics(), idleTime: idleTime)
    }

    private func file(of board: Board) throws -> [UInt8] { try BoardRenderer.test().picture(of: board) }

    @Test func `equal requests that wait share one file, of the newest board among them`() async throws {
        let recorder = ReplyRecorder()
        let queue = queue(recorder)
        var room = try DrawnRoom(strokes: 1)
        // The thread is busy with another picture until the gate opens.
        queue.render(try key(width: 10), of: BoardVersion(room.board), reply: "other")
        _ = try await recorder.next()
        for number in 1...8 {
            queue.render(try key(), of: BoardVersion(room.board), reply: "\(number)")
            try room.draw()
        }
        queue.render(try key(), of: BoardVersion(room.board), reply: "9")
        recorder.open(10)
        let answers = try await recorder.next(9)
        let newest = try file(of: room.board)
        #expect(answers.keys.sorted() == (1...9).map(String.init))
        #expect(answers.values.allSatisfy { $0 == .sent(newest) })
        queue.close()
    }

    @Test func `a newer board supersedes a long rendering of an older one`() async throws {
        let recorder = ReplyRecorder()
        let queue = queue(recorder)
        var room = try DrawnRoom(strokes: 3000)
        let long = room.board
        try room.clear()
        recorder.open(2)
        queue.render(try key(), of: BoardVersion(long), reply: "old")
        queue.render(try key(), of: BoardVersion(room.board), reply: "new")
        let blank = try file(of: room.board)
        #expect(try await recorder.next(2) == ["old": .sent(blank), "new": .sent(blank)])
        queue.close()
    }

    @Test func `of a room that is erased during its rendering nothing is kept`() async throws {
        let recorder = ReplyRecorder()
        let queue = queue(recorder)
        let room = try DrawnRoom(strokes: 3000)
        queue.render(try key(), of: BoardVersion(room.board), reply: "drawn")
        queue.forget(try key().room.room, [])
        recorder.open(1)
        #expect(try await recorder.next() == ["drawn": .sent(file(of: room.board))])
        #expect(queue.usage.total == 0)
        queue.close()
    }

    @Test func `requests beyond the bound are refused, and answered ones are released`() async throws {
        let recorder = ReplyRecorder()
        // One room has half of the bound.
        let queue = queue(recorder, requests: 4)
        let room = try DrawnRoom(strokes: 1)
        for number in 1...3 { queue.render(try key(width: number), of: BoardVersion(room.board), reply: "\(number)") }
        recorder.open(2)
        let answers = try await recorder.next(3)
        #expect(answers["3"]?.error?.code == .notReady)
        queue.close()
        #expect(queue.isIdle)
    }

    @Test func `closing cancels a long rendering and refuses the requests that wait`() async throws {
        let recorder = ReplyRecorder()
        let queue = queue(recorder)
        let room = try DrawnRoom(strokes: 3000)
        queue.render(try key(), of: BoardVersion(room.board), reply: "long")
        queue.render(try key(width: 50), of: BoardVersion(room.board), reply: "waiting")
        recorder.open(2)
        queue.close()
        #expect(try await recorder.next(2).values.allSatisfy { $0.error?.code == .notReady })
    }

    @Test func `unused canvases are evicted`() async throws {
        let recorder = ReplyRecorder()
        let queue = queue(recorder, idleTime: .milliseconds(20))
        let room = try DrawnRoom(strokes: 3)
        queue.render(try key(), of: BoardVersion(room.board), reply: "drawn")
        #expect(try await recorder.next() == ["drawn": .sent(file(of: room.board))])
        #expect(queue.usage.total > 0, "nothing is evicted while the picture is sent")
        recorder.open(1)
        try await eventually("nothing is kept", is: queue.usage.total == 0)
        queue.close()
    }
}

@Suite struct PendingRendersTests {
    @Test func `nobody gets a board older than the request`() throws {
        let key = try RenderKey.test()
        var room = DrawnRoom()
        var boards: [BoardVersion] = []
        for _ in 1...3 {
            try room.draw()
            boards.append(BoardVersion(room.board))
        }
        var orders = PendingRenders()
        #expect(orders.cost(key, of: boards[1]) == boards[1].byteEstimate)
        let isFirst = [orders.add(key, of: boards[1], reply: "second"), orders.add(key, of: boards[0], reply: "first")]
        #expect(isFirst == [true, false])
        #expect(orders.board(for: key)?.index == 2, "the newest board is drawn, not the last one ordered")
        #expect(orders.cost(key, of: boards[0]) == 0, "those who share a board share its bytes")
        #expect(orders.cost(key, of: boards[2]) == boards[2].byteEstimate - boards[1].byteEstimate)
        _ = orders.add(key, of: boards[2], reply: "third")

        // The second board has been rendered.
        var taken = orders.take(key, through: 2)
        #expect(taken.replies == ["second", "first"] && taken.areMoreLeft && taken.bytes == 0)
        #expect(orders.board(for: key)?.index == 3)
        taken = orders.take(key, through: 3)
        #expect(taken.replies == ["third"] && !taken.areMoreLeft && taken.bytes == boards[2].byteEstimate)
        #expect(orders.board(for: key) == nil)
        let isFirstAgain = orders.add(key, of: boards[0], reply: "again")
        #expect(isFirstAgain, "somebody has to draw it")
    }
}
