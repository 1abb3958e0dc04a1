import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// The service's room behind a gateway, and what devices of its author post to it.

/// What is told of a stroke and of a pointer while they are drawn.
extension DrawingSessionTests {
    @Test("the stroke under the pen goes out point by point, with predictions, and its operation has all its points")
    func wetInk() throws {
        var now = Duration.seconds(1)
        var device = device()
        let pointer = Pen.Pointer(id: 1, kind: .pen)
        func sample(_ place: Int) -> Pen.Sample { Pen.Sample(x: Double(place), y: 5, time: Double(place) * 4) }
        _ = device.session.penDown(pointer, sample(0), time: 7000)
        for place in 1..<1000 {
            now += .milliseconds(4)
            _ = device.session.penMoved(1, kind: .pen, [sample(place)], predicted: [sample(place + 1)], at: now)
            device.run(at: now)
            // Every third request is lost.
            try device.exchange(isLost: place % 3 == 0, at: now)
        }
        _ = device.session.penRevised(990, Pen.Sample(x: 990, y: 6, time: 0), at: now)
        now += .seconds(1)
        device.run(at: now)
        try device.exchange(at: now)
        var points: [StrokePoint] = []
        for (place, update) in room.wetUpdates.enumerated() {
            #expect(update.number == 1 && (place == 0 || update.update > room.wetUpdates[place - 1].update))
            guard case .points(let part) = update.content else {
                Issue.record("given up")
                continue
            }
            #expect(part.style.time == 7000 && part.style.page == 0)
            #expect(part.first <= points.count, "a part that does not follow is ignored")
            points.replaceSubrange(part.first..<min(points.count, part.first + part.points.count), with: part.points)
        }
        #expect(room.wetUpdates.count > 20)
        #expect(points.count == 1000 && points[990].y == 6)
        _ = device.session.penUp(1, at: now)
        device.run(at: now)
        _ = try device.finish(from: now)
        let bytes = try #require(room.operations.first?.bytes)
        #expect(try StrokeMessage(accepted: bytes).decodePoints(of: bytes) == points)
    }

    /// The messages of pointers that the room has, and their points.
    private func pointers(of room: DrawingRoom) throws -> [(header: StrokeMessage, points: [StrokePoint])] {
        try room.operations.map { operation in
            let header = try StrokeMessage(accepted: operation.bytes)
            return (header, header.decodePoints(of: operation.bytes))
        }.filter { $0.header.element == .pointer }
    }

    @Test func `a pointer is cut every 10 s, and says at its end how long it has rested`() throws {
        var now = Duration.seconds(1)
        var device = device()
        device.session.tool = DrawingSession.Tool(element: .pointer, colour: 2, width: 4)
        let pointer = Pen.Pointer(id: 1, kind: .pen)
        // The clock of samples is another one.
        func sample(_ milliseconds: Int) -> Pen.Sample {
            Pen.Sample(x: Double(milliseconds) / 100, y: 5, time: Double(milliseconds) + 777_000)
        }
        _ = device.session.penDown(pointer, sample(0), time: 7000)
        device.run(at: now)
        // It moves for 12 s, and rests for 13.
        for step in 1...240 {
            now += .milliseconds(50)
            _ = device.session.penMoved(1, kind: .pen, [sample(step * 50)], at: now)
            device.run(at: now)
            while !device.posts.isEmpty { try device.exchange(at: now) }
            #expect(device.session.live.isEmpty && device.session.pages == BoardPages())
        }
        while now < .seconds(26) {
            now = try #require(device.wake)
            device.run(at: min(now, .seconds(26)))
            while !device.posts.isEmpty { try device.exchange(at: min(now, .seconds(26))) }
        }
        now = .seconds(26)
        #expect(device.session.penUp(1, at: now).hasEnded)
        _ = try device.finish(from: now)
        let all = try pointers(of: room)
        #expect(all.map(\.header.time) == [7000, 17_000, 27_000])
        #expect(all.map(\.header.colour) == [2, 2, 2])
        #expect(all.map { $0.points.last?.milliseconds } == [10_000, 10_000, 5000])
        #expect(all.map { $0.points.first?.milliseconds } == [0, 0, 0])
        #expect(all[0].points.last?.x == 100 && all[1].points.first?.x == 100 && all[2].points.first?.x == 120)
        #expect(all[1].points.contains { $0.milliseconds == 1000 && $0.x == 110 })
        // Each piece went out while it was drawn, too.
        #expect(Set(room.wetUpdates.map(\.number)) == Set(all.map(\.header.number)))
        let elements = room.wetUpdates.compactMap { update -> Element? in
            if case .points(let points) = update.content { points.style.element } else { nil }
        }
        #expect(Set(elements) == [.pointer])
    }

    @Test("a pen above the board points with at most 15 points a second, and no longer when it rests, goes or touches")
    func hover() throws {
        var now = Duration.seconds(1)
        var device = device()
        func sample(_ x: Double) -> Pen.Sample {
            Pen.Sample(
                x: x, y: 5, time: Double(now.components.seconds) * 1000 + Double(now.components.attoseconds) / 1e15)
        }
        device.session.hover(sample(1), time: 7000, at: now)
        device.run(at: now)
        #expect(device.posts.isEmpty, "another tool points at nothing")
        device.session.tool = DrawingSession.Tool(element: .pointer, colour: 1, width: 4)
        for step in 0..<300 {
            now += .milliseconds(10)
            device.session.hover(sample(Double(step)), time: 7000, at: now)
            device.run(at: now)
            if let wake = device.wake, wake <= now { Issue.record("it wakes at once, again") }
        }
        #expect(device.session.page == 0)
        // It rests: the last place is told all the same.
        while now < .seconds(10) {
            now = max(now + .milliseconds(1), min(device.wake ?? .seconds(10), .seconds(10)))
            device.run(at: now)
            while !device.posts.isEmpty { try device.exchange(at: now) }
        }
        var all = try pointers(of: room)
        #expect(all.count == 1)
        #expect(all[0].points.count <= 3 * 15 + 3 && all[0].points.count > 40)
        #expect(all[0].points.last?.x == 299 && all[0].header.time == 7000)
        #expect(all[0].points.last?.milliseconds ?? 0 > 4900, "as long as it has rested")
        #expect(device.events.allSatisfy { if case .drawing = $0 { false } else { true } })
        // A command and the pen end it; what is drawn comes behind it.
        device.session.hover(sample(3), time: 20_000, at: now)
        device.run(at: now)
        #expect(device.session.perform(.turn(1), time: 20_000, at: now) == true)
        device.session.hover(sample(4), time: 21_000, at: now)
        device.session.tool.element = .freehand
        device.draw(7, at: now)
        device.session.tool.element = .pointer
        device.session.hover(sample(5), time: 22_000, at: now)
        device.run(at: now)
        device.session.hover(nil, time: nil, at: now)
        device.run(at: now)
        _ = try device.finish(from: now)
        all = try pointers(of: room)
        #expect(all.map(\.header.time) == [7000, 20_000, 21_000, 22_000])
        #expect(all.map(\.header.page) == [0, 0, 1, 1])
        let actions = try room.operations.map { try StrokeMessage(accepted: $0.bytes) }
        #expect(actions.map(\.action) == [.draw, .draw, .turn, .draw, .draw, .draw])
        #expect(actions.map(\.element) == [.pointer, .pointer, .freehand, .pointer, .freehand, .pointer])
    }

    @Test func `a stroke that is given up is told of, and the next one with its number counts its updates on`() throws {
        let now = Duration.seconds(1)
        var device = device()
        let pointer = Pen.Pointer(id: 1, kind: .pen)
        _ = device.session.penDown(pointer, Pen.Sample(x: 1, y: 1, time: 0), time: nil)
        device.run(at: now)
        try device.exchange(at: now)
        #expect(device.session.penCancelled(1) == Pen.Change(isCancelled: true))
        device.run(at: now)
        try device.exchange(at: now)
        #expect(device.session.live.isEmpty && device.session.waitingCount == 0)
        _ = device.session.penDown(pointer, Pen.Sample(x: 2, y: 1, time: 9), time: nil)
        device.run(at: now)
        let left = device.session.leave()
        let post = try #require(left)
        #expect(post.outlivesShell)
        _ = try room.post(device.posts.removeFirst(), at: now)
        _ = try room.post(post, at: now)
        #expect(room.wetUpdates.map(\.update) == [1, 2, 3, 4])
        #expect(room.wetUpdates.map { $0.content == .givenUp } == [false, true, false, true])
    }
}

/// Applied operations that the board does not show yet.
extension DrawingSessionTests {
    @Test func `strokes of a room that has begun anew are not shown above the new one`() throws {
        let now = Duration.seconds(1)
        var device = device()
        device.draw(1, at: now)
        try device.exchange(at: now)
        #expect(device.session.waitingCount == 0)
        #expect(try numbers(device) == [1])
        // The first operation names the room.
        device.session.joined(incarnation: "log-1")
        #expect(try numbers(device) == [1])
        device.session.left()
        device.session.joined(incarnation: "log-1")
        #expect(try numbers(device) == [1])
        device.run(at: now)
        let eventCount = device.events.count
        device.session.left()
        device.session.joined(incarnation: "log-9")
        #expect(try numbers(device).isEmpty)
        device.run(at: now)
        #expect(device.events.dropFirst(eventCount).contains(.live))
    }

    @Test func `operations applied beyond 32 MiB are not shown before the board shows them`() throws {
        var (outbox, head) = (Outbox(), HeadBoard())
        outbox.open([], session: "s")
        let long = String(repeating: "x", count: 1 << 20)
        func apply(_ index: UInt64) throws {
            let key = OperationKey(session: "s", number: outbox.next)
            let message = Array("{\"n\":\(outbox.next),\"d\":[{\"x\":1,\"y\":1}],\"other\":\"\(long)\"}".utf8)
            outbox.add([message], try StrokeMessage(accepted: message), at: .zero)
            guard let operation = outbox.applied(key, in: nil) else { return }
            head.applied(operation, at: index)
        }
        func count() -> Int { head.live(on: 0, with: OperationList(), without: []).count }
        for index in 1...40 { try apply(UInt64(index)) }
        #expect(count() == 31)
        head.shows(through: 10)
        #expect(count() == 21)
        for index in 41...60 { try apply(UInt64(index)) }
        #expect(count() == 31)
        head.shows(through: 60)
        #expect(count() == 0)
        try apply(61)
        #expect(count() == 1)
    }
}
