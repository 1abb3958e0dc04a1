import StrokeWire
import Testing

@testable import ClientCore

/// Applied operations that the board does not show yet.
extension DrawingSessionTests {
    @Test func `strokes of a room that has begun anew are not shown above the new one`() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        let now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: 1, at: now)
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

    @Test func `what is applied beyond 32 MiB is not shown before the board shows it`() throws {
        var (outbox, head) = (OperationOutbox(), HeadBoard())
        outbox.open([], session: "s")
        let long = String(repeating: "x", count: 1 << 20)
        func apply(_ index: UInt64) throws {
            let key = OperationKey(session: "s", number: outbox.next)
            let message = Array("{\"n\":\(outbox.next),\"d\":[{\"x\":1,\"y\":1}],\"other\":\"\(long)\"}".utf8)
            outbox.add([message], try StrokeMessage(accepted: message), at: .zero)
            guard let entry = outbox.applied(key) else { return }
            head.applied(entry, at: index)
        }
        func count() -> Int { head.live(on: 0, with: [], without: []).count }
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
