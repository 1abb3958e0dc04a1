import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// Daemons that are started on one root with settings that do not go together.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct StrangerTests {
    @Test func `a daemon with another number of partitions refuses to start, and says beside whom`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let first = try DaemonProcess("first", nats: nats.url, ["subjects.partitions=2"])
            try await first.waitUntilServing()
            // Also one that comes again under the same name within the time a daemon counts as there.
            for _ in 1...3 {
                let second = try DaemonProcess("second", nats: nats.url, ["subjects.partitions=4"])
                #expect(await second.exitCode(within: .seconds(20)) == 1)
                #expect(second.log.contains("subjects.partitions is 4 here and 2 there"))
                #expect(second.log.contains(#""first""#))
                #expect(!second.log.contains(" serving"))
            }
            #expect(first.lines(with: "subjects.partitions is 2 here and 4 there").count == 1)
            #expect(await first.terminate() == 0)
        }
    }

    @Test(arguments: [["none", "jetstream"], ["jetstream", "none"], ["none", "none"]])
    func `daemons whose journals do not go together are not on one root`(_ modes: [String]) async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let first = try DaemonProcess("first", nats: nats.url, ["journal.mode=\(modes[0])"])
            try await first.waitUntilServing()
            let second = try DaemonProcess("second", nats: nats.url, ["journal.mode=\(modes[1])"])
            #expect(await second.exitCode(within: .seconds(20)) == 1)
            #expect(second.log.contains("journal.mode is \(modes[1]) here and \(modes[0]) there"))
            #expect(await first.terminate() == 0)
            let third = try DaemonProcess("third", nats: nats.url, ["journal.mode=\(modes[1])"])
            try await third.waitUntilServing()
            #expect(await third.terminate() == 0)
        }
    }

    @Test(arguments: ["none", "jetstream"])
    func `a stranger that comes later is told of once, and one that says nothing is none`(_ mode: String) async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("first", nats: nats.url, ["journal.mode=\(mode)"])
            try await daemon.waitUntilServing()
            try await NATSConnection.with(nats) { connection in
                func say(_ name: String, _ more: String = "") throws {
                    let word = #"{"id":"\#(name)","leaving":false,"serving":[]\#(more),"v":1}"#
                    try connection.publish(Array(word.utf8), to: "ink.members.\(name)")
                }
                try say("old")
                for _ in 1...3 { try say("one", #","partitions":3"#) }
                try say("two", #","partitions":1,"journal":"paper""#)
                try await connection.flush()
            }
            try await daemon.waitForLog("journal.mode is \(mode) here and paper there")
            #expect(daemon.lines(with: "subjects.partitions is 1 here and 3 there").count == 1)
            #expect(daemon.lines(with: " error ").count == 2, "\(daemon.log)")
            #expect(await daemon.terminate() == 0)
        }
    }
}
