import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Replays of a long lesson beside other rooms.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct LongReplayTests {
    private static let pages = 1000

    @Test func `while a lesson of 1,000 pages is replayed ten times other rooms go on, and daemons hear each other`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            // The lesson is written in seconds.
            let settings = ["limits.messages_per_second=100000"]
            let (first, http) = try await DaemonProcess.servingHTTP("a", nats: nats.url, settings)
            let second = try await DaemonProcess.serving("b", nats: nats.url, settings)
            try await NATSConnection.with(nats) { connection in
                let teacher = try ScriptedAuthor("ann", room: "long", on: connection)
                for page in 0..<Self.pages {
                    let place = #""g":\#(page),"t":\#(page * 10)"#
                    let stroke = #"{"n":\#(2 * page + 2),\#(place),"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
                    try await teacher.send(#"{"n":\#(2 * page + 1),"a":5,\#(place)}"#)
                    if page + 1 < Self.pages { try await teacher.send(stroke) }
                    if page + 1 == Self.pages { try await teacher.send(stroke, appliedAt: UInt64(2 * Self.pages)) }
                }
                let other = try ScriptedAuthor("bert", room: "other", on: connection)
                let isDone = Locked(false)
                let replays = Task {
                    defer { isDone.withLock { $0 = true } }
                    // Each from another place, so that none is a copy of the one before.
                    return try await concurrently(0..<10) { number in
                        // A busy machine may take longer than the gateway waits.
                        let answer = try await eventually("a replay") {
                            let answer = try await http.get(
                                "/api/rooms/long/replay?cohort=head&from=\(number)&to=100000000")
                            return answer.statusCode == 504 ? nil : answer
                        }
                        #expect(answer.statusCode == 200, "\(answer.text.prefix(300))")
                        return answer.bytes.count
                    }
                }
                var latencies: [Duration] = []
                let began = ContinuousClock.now
                while !isDone.withLock({ $0 }) || latencies.count < 50 {
                    let (number, sent) = (latencies.count + 1, ContinuousClock.now)
                    try await other.send(
                        #"{"n":\#(number),"t":0,"d":[{"x":1,"y":2},{"x":3,"y":4}]}"#, appliedAt: UInt64(number))
                    latencies.append(.now - sent)
                }
                let time = ContinuousClock.now - began
                let sizes = try await replays.value
                #expect(sizes.allSatisfy { $0 > 100_000 }, "\(sizes)")
                let worst = latencies.max() ?? .zero
                print("replayed within \(time); \(latencies.count) operations beside it, the slowest after \(worst)")
                // On a busy machine the replays take longer as well.
                #expect(worst < max(.seconds(3), time / 4))
            }
            for daemon in [first, second] {
                #expect(daemon.lines(with: "has left or failed").isEmpty, "\(daemon.log)")
                #expect(await daemon.terminate() == 0)
            }
        }
    }
}
