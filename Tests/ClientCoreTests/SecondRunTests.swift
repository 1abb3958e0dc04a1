import StrokeWire
import Testing

@testable import ClientCore

/// A shell that ends while requests are under way, and comes back with the same session.
extension DrawingSessionTests {
    /// The shell ends, and no answer comes any more; then it is there again.
    private func comeBack(_ device: inout DrawingDevice, at now: Duration) {
        _ = device.session.leave()
        device.session.rightChanged(false, at: now)
        device.posts = []
        device.session.rightChanged(true, at: now)
        device.run(at: now)
    }

    @Test func `wet ink whose answer never came does not keep back that of the next run`() {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: 1, at: now)
        func touch() {
            _ = device.session.penDown(Pen.Pointer(id: 1, kind: .pen), Pen.Sample(x: 1, y: 1, time: 0), time: nil)
            device.run(at: now)
        }
        touch()
        #expect(device.posts.map { $0.target } == [.wet])
        comeBack(&device, at: now)
        now += .seconds(1)
        _ = device.session.penCancelled(1)
        touch()
        #expect(device.session.state == .writer)
        #expect(device.posts.map { $0.target } == [.wet])
    }

    @Test func `a look at the room whose answer never came does not keep back that of the next run`() {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var device = DrawingDevice(store, room, seed: 1, at: .seconds(1))
        device.session.noteMuted(true, at: .seconds(1))
        device.run(at: .seconds(6))
        #expect(device.looks == 1)
        comeBack(&device, at: .seconds(7))
        device.run(at: .seconds(11))
        #expect(device.looks == 2)
        device.session.looked(isWriting: nil, isMuted: false, at: .seconds(11))
        #expect(!device.session.isMuted)
    }

    @Test func `a gateway that wants to be left alone for days is asked again after an hour`() {
        for (text, seconds) in [("7", 7.0), ("7.5", 7.5), ("3600", 3600), ("86400", 3600), ("1e300", 3600)] {
            let failure = GatewayFailure(status: 503, body: [], retryAfter: text)
            #expect(failure.retryAfter == .seconds(seconds), "\(text)")
        }
        for text in ["-1", "nan", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            #expect(GatewayFailure(status: 503, body: [], retryAfter: text).retryAfter == nil, "\(text)")
        }
        let failure = GatewayFailure(status: 503, code: "not-ready", message: "", retryAfter: .seconds(1_000_000))
        #expect(failure.retryAfter == .seconds(3600))
    }
}
