import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// What a daemon in trouble tells of it.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct TroubleTests {
    private func metrics(_ http: HTTPClient) async throws -> Exposition {
        try Exposition(try await http.get("/metrics").text)
    }

    @Test func `a full log shows what was refused over HTTP, and how old what is in no checkpoint is`() async throws {
        let settings = ["journal.max_bytes=1MiB", "checkpoint.interval=1h", "checkpoint.operations=1000000"]
        try await BoardService.with(settings) { service in
            let points = (0..<300).map { #"{"x":\#($0),"y":\#($0)}"# }.joined(separator: ",")
            var number = 0
            let seen = try await eventually("it is told") {
                // More than the log holds, until there is no space that records in checkpoints have left.
                for _ in 0..<100 {
                    number += 1
                    try service.connection.publish(
                        Array(#"{"n":\#(number),"d":[\#(points)]}"#.utf8), to: "ink.0.full.in.ben\(number % 10)")
                }
                try await service.connection.flush()
                let answer = try await service.http.send(
                    "POST", "/api/rooms/full/strokes?author=anna", body: #"{"n":\#(number),"d":[\#(points)]}"#)
                #expect(answer.statusCode == 200)
                let seen = try await metrics(service.http)
                let isRefused = seen[#"lectern_publishes_refused_total{stream="INK_LOG_0"}"#] ?? 0 > 0
                let isFull = seen[#"lectern_stream_bytes{stream="INK_LOG_0"}"#] ?? 0 > 900_000
                return isRefused && isFull && seen["lectern_checkpoint_age_seconds"] ?? 0 > 0 ? seen : nil
            }
            #expect(seen[#"lectern_log_unread_records{partition="0"}"#] == 0)
        }
    }

    @Test func `connections to NATS that are lost are counted by cause, and a restart by what it reads`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let (daemon, http) = try await DaemonProcess.servingHTTP(
                "a", nats: nats.url, ["checkpoint.interval=1h", "checkpoint.operations=1000000"])
            let ann = try ScriptedAuthor("ann", room: "lesson", on: connection)
            for number in 1...5 {
                try await ann.send(#"{"n":\#(number),"d":[{"x":\#(number),"y":1}]}"#, appliedAt: UInt64(number))
            }
            await nats.kill()
            try await nats.restart()
            let closed = ["operations", "requests", "gateway"].map {
                #"lectern_nats_disconnects_total{cause="closed",connection="\#($0)"}"#
            }
            try await eventually("each has lost its connection once") {
                let seen = try await metrics(http)
                return closed.allSatisfy { seen[$0] == 1 } && seen["lectern_nats_connected"] == 1 ? () : nil
            }
            await daemon.kill()

            let successor = try await DaemonProcess.serving("a", nats: nats.url, http: "127.0.0.1:0")
            let seen = try await metrics(HTTPClient(port: try await successor.httpPort()))
            #expect(seen["lectern_recovery_seconds_count"] == 1)
            // The first operation of a room is saved at once, all others later.
            #expect((1...5).contains(seen["lectern_recovery_records_total"] ?? 0))
            #expect(await successor.terminate() == 0)
        }
    }
}
