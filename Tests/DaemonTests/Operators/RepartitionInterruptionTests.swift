import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Moves to another number of partitions that cannot go on, or that are not allowed to begin.
extension RepartitionTests {
    /// Of a server with a user `held` who may not publish to some subjects; everybody else may do everything.
    private static func heldUser(_ denied: String) -> String {
        """
        accounts: { CLASS: { jetstream: enabled, users: [
          { user: admin, password: admin }
          { user: held, password: held, permissions: { publish: { allow: [">"], deny: ["\(denied)"] } } } ] } }
        no_auth_user: admin

        """
    }

    private static func withHeldUser(
        _ denied: String, _ body: @Sendable (NATSTestServer) async throws -> Void
    ) async throws {
        try await NATSTestServer.with(jetStream: true, configuration: heldUser(denied), body)
    }

    /// Moves as that user, and fails.
    private static func moveHeld(_ partitions: Int, on nats: NATSTestServer) async throws -> String {
        try await run("repartition", "\(partitions)", "--nats", "nats://held:held@127.0.0.1:\(nats.port)", exits: 1)
    }

    private static func streams(_ nats: NATSTestServer, _ prefix: String = "INK_") async throws -> [String] {
        try await NATSConnection.with(nats) { connection in
            try await JetStream(connection).streamNames(beginningWith: prefix)
        }
    }

    private static func info(_ stream: String, _ nats: NATSTestServer) async throws -> StreamInfo {
        try await NATSConnection.with(nats) { connection in try await JetStream(connection).streamInfo(stream) }
    }

    /// Makes the streams.
    private static func provision(_ nats: NATSTestServer, _ settings: String...) async throws {
        let small = ["assets.max_bytes=1MiB", "audit.max_bytes=1MiB"]
        let daemon = try await DaemonProcess.serving("a", nats: nats.url, settings + small)
        #expect(await daemon.terminate() == 0)
    }

    @Test func `stopped after the checkpoints are deleted and before the logs are, it goes on with any number`()
        async throws
    {
        try await Self.withHeldUser("$JS.API.STREAM.DELETE.INK_LOG_0") { nats in
            _ = try await Self.fill(nats)
            let before = try await Self.states(on: nats, partitions: 1)
            for partitions in [1, 3] {
                _ = try await Self.moveHeld(2, on: nats)
                let left = try await Self.streams(nats)
                #expect(left.contains("INK_LOG_0") && !left.contains("INK_CHECKPOINT_0"), "\(left)")
                let told = try await Self.run("repartition", "\(partitions)", "--nats", nats.url)
                #expect(told.contains("moved to \(partitions) partitions"))
                Self.expectSame(before, try await Self.states(on: nats, partitions: partitions), "moved")
            }
        }
    }

    @Test func `stopped while copies are deleted, it ends that move and goes on to another number`() async throws {
        try await Self.withHeldUser("$JS.API.STREAM.DELETE.INK_MOVING_LOG_0") { nats in
            _ = try await Self.fill(nats)
            let before = try await Self.states(on: nats, partitions: 1)
            _ = try await Self.moveHeld(2, on: nats)
            let told = try await Self.run("repartition", "4", "--nats", nats.url)
            #expect(told.contains("an earlier move to 2 partitions"), "\(told)")
            #expect(try await Self.streams(nats, "INK_LOG_").count == 4)
            #expect(try await Self.streams(nats, "INK_MOVING").isEmpty)
            Self.expectSame(before, try await Self.states(on: nats, partitions: 4), "moved")

            _ = try await Self.moveHeld(2, on: nats)
            let same = try await Self.run("repartition", "2", "--nats", nats.url)
            #expect(same.contains("an earlier move to 2 partitions") && !same.contains("0 records"), "\(same)")
            #expect(try await Self.streams(nats, "INK_MOVING").isEmpty)
        }
    }

    /// Names of rooms of a partition.
    private static func rooms(_ count: Int, in partition: Int, among partitions: Int) -> [String] {
        let names = (0...).lazy.map { "room\($0)" }
        let fitting = names.filter { RoomID($0).map { RoomAddress.partition(of: $0, among: partitions) } == partition }
        return Array(fitting.prefix(count))
    }

    @Test func `failed while it fills a log and run again, it moves every record once`() async throws {
        let (first, second) = (Self.rooms(1, in: 0, among: 2), Self.rooms(2, in: 1, among: 2))
        let all = first + second
        try await Self.withHeldUser("ink.0.\(second[1]).moved.>") { nats in
            try await Self.provision(nats, "subjects.partitions=2")
            for room in all { try await Self.write((1...10).map { Self.stroke($0) }, to: room, among: 2, on: nats) }
            let before = try await Self.states(of: all, on: nats, partitions: 2)
            // The server fills copies from a new stream of the same name.
            try await NATSConnection.with(nats) { connection in
                try await JetStream(connection).copy("INK_LOG_0", to: "WITNESS", label: "")
            }
            _ = try await Self.moveHeld(1, on: nats)
            #expect(try await Self.info("INK_LOG_0", nats).lastSequence > 20)
            try await eventually(
                "the witness has records of the new log", is: await Self.info("WITNESS", nats).messages > 10)
            #expect(try await Self.info("INK_MOVING_LOG_0", nats).messages == 10)
            let told = try await Self.run("repartition", "1", "--nats", nats.url)
            #expect(told.contains("moved to 1 partitions: 30 records"), "\(told)")
            Self.expectSame(before, try await Self.states(of: all, on: nats, partitions: 1), "moved")
        }
    }

    /// Lowers the limit of a stream.
    private static func limit(_ stream: String, bytes: Int, on nats: NATSTestServer) async throws {
        try await NATSConnection.with(nats) { connection in
            try await JetStream(connection, timeout: .hangLimit).update(stream, ["max_bytes": bytes])
        }
        #expect(try await info(stream, nats).configuration.maxBytes == bytes)
    }

    @Test func `logs near their limit are moved to logs with a higher one`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await Self.provision(nats, "journal.max_bytes=8MiB")
            var number = 0
            while try await Self.info("INK_LOG_0", nats).bytes < 970_000 {
                try await Self.write((1...250).map { Self.stroke(number + $0) }, to: "full", on: nats)
                number += 250
            }
            let before = try await Self.states(of: ["full"], on: nats, partitions: 1)
            // Before that, a daemon would trim the log.
            try await Self.limit("INK_LOG_0", bytes: 1 << 20, on: nats)
            for partitions in [3, 2, 1] {
                let told = try await Self.run("repartition", "\(partitions)", "--nats", nats.url)
                #expect(told.contains("moved to \(partitions) partitions: \(number) records"), "\(told)")
                let names = try await Self.streams(nats, "INK_LOG_")
                var limits: [Int64] = []
                for name in names {
                    let info = try await Self.info(name, nats)
                    limits.append(info.configuration.maxBytes)
                    #expect(Double(info.bytes) <= 0.8 * Double(info.configuration.maxBytes), "\(info)")
                }
                #expect(limits.contains(2 << 20), "\(limits)")
                let moved = try await Self.states(of: ["full"], on: nats, partitions: partitions)
                Self.expectSame(before, moved, "moved to \(partitions)")
            }
        }
    }

    /// Eight of ten messages of a log are copied when its first two expire; a purge stands for that.
    @Test func `a copy that lacks the newest records is waited for, also where it has as many messages as the log`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await Self.provision(nats)
            let (old, new) = ((1...2).map { Self.stroke($0) }, (1...8).map { Self.stroke($0) })
            for (room, strokes) in [("old", old), ("history", new), ("erased", old)] {
                try await Self.write(strokes, to: room, on: nats)
            }
            try await NATSConnection.with(nats) { connection in
                let jetStream = JetStream(connection)
                try await jetStream.capture(["ink.0.PARKED.log"], by: "INK_LOG_0")
                // Copies never get these.
                try await jetStream.deleteMessages("INK_LOG_0", [11, 12])
                // What the copies are made from here is as slow as the test likes.
                _ = try await jetStream.provision(StreamConfiguration(name: "SLOW", subjects: ["ink.0.*.in.*"]))
                try await Self.write(old, to: "old", on: nats)
                try await Self.write(new.dropLast(2), to: "history", on: nats)
                let (relay, copy) = ("INK_MOVING_RELAY_LOG_0", "INK_MOVING_LOG_0")
                for (stream, copy) in [("SLOW", relay), (relay, copy)] {
                    try await jetStream.copy(stream, to: copy, label: "slow")
                    try await eventually("\(copy) is filled", is: await jetStream.streamInfo(copy).messages == 8)
                }
                try await jetStream.purge("INK_LOG_0", before: 3)
                #expect(try await jetStream.streamInfo("INK_LOG_0").messages == 8)

                let looks = Locked(0)
                _ = try connection.subscribe("$JS.API.STREAM.INFO.\(copy)") { _ in looks.withLock { $0 += 1 } }
                let process = try LecternProcess(["repartition", "2", "--nats", nats.url])
                try await eventually(
                    "the copy has been looked at and is looked at again", is: looks.withLock { $0 } >= 2)
                // The new logs get the subjects of this one.
                process.send(SIGSTOP)
                try await Self.write(new.suffix(2), to: "history", on: nats)
                try await jetStream.capture(["slow"], by: "SLOW")
                process.send(SIGCONT)
                #expect(await process.exitCode() == 0)
                #expect(process.log.contains("moved to 2 partitions: 10 records"), "\(process.log)")
            }
        }
    }

    /// A room in each of 4 partitions.
    private static let quarters = (0..<4).flatMap { rooms(1, in: $0, among: 4) }

    /// 4 partitions with 500 records each, some 220 kB, and no other streams.
    private static func fillQuarters(_ nats: NATSTestServer, _ setting: String) async throws {
        try await provision(nats, setting, "subjects.partitions=4")
        for room in quarters {
            for number in [0, 250] {
                try await write((1...250).map { stroke(number + $0) }, to: room, among: 4, on: nats)
            }
        }
        try await NATSConnection.with(nats) { connection in
            let jetStream = JetStream(connection)
            for name in try await jetStream.streamNames(beginningWith: "") where name.last?.isNumber != true {
                try await jetStream.delete(name)
            }
        }
    }

    /// The account has no space for that many logs with their limits, or for records that are longer than they were.
    @Test(arguments: [("1MiB", 12, "14MB"), ("unlimited", 2, "550KB")])
    func `without space for the new logs it is refused, and all is as before`(
        _ maxBytes: String, _ partitions: Int, _ store: String
    ) async throws {
        let users = "users: [ { user: admin, password: admin } ] } }\nno_auth_user: admin"
        let unlimited = "accounts: { CLASS: { jetstream: enabled, \(users)"
        try await NATSTestServer.with(jetStream: true, configuration: unlimited) { nats in
            try await Self.fillQuarters(nats, "journal.max_bytes=\(maxBytes)")
            let before = try await Self.streams(nats)
            try await nats.restart(configuration: "accounts: { CLASS: { jetstream: { max_store: \(store) }, \(users)")
            let told = try await Self.run("repartition", "\(partitions)", "--nats", nats.url, exits: 1)
            #expect(told.contains("JetStream lacks space for the new streams"), "\(told)")
            #expect(try await Self.streams(nats) == before)
            for (partition, room) in Self.quarters.enumerated() {
                try await Self.write([Self.stroke(501)], to: room, among: 4, on: nats)
                #expect(try await Self.info("INK_LOG_\(partition)", nats).messages == 501)
            }
        }
    }

    @Test func `a record that is too large with its header is told before anything is moved`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await Self.provision(nats)
            try await Self.write([String(repeating: "x", count: (1 << 20) - 20)], to: "history", on: nats)
            let before = try await Self.streams(nats)
            let told = try await Self.run("repartition", "2", "--nats", nats.url, exits: 1)
            #expect(told.contains("record 1 of INK_MOVING_LOG_0") && told.contains("max_payload"), "\(told)")
            #expect(try await Self.streams(nats) == before)
            try await nats.restart(configuration: "max_payload: 2MB")
            let moved = try await Self.run("repartition", "2", "--nats", nats.url)
            #expect(moved.contains("moved to 2 partitions: 1 records"), "\(moved)")
        }
    }

    @Test func `when the store is full it says what to do, and goes on when there is space`() async throws {
        let denied = "ink.1.*.moved.>"
        try await Self.withHeldUser(denied) { nats in
            try await Self.fillQuarters(nats, "journal.max_bytes=unlimited")
            let before = try await Self.states(of: Self.quarters, on: nats, partitions: 4)
            try await NATSConnection.with(nats) { connection in
                for name in ["INK_ASSETS", "INK_AUDIT", "INK_REVOKED"] { try? await JetStream(connection).delete(name) }
            }
            _ = try await Self.moveHeld(2, on: nats)
            // A server tells nobody what it has left.
            try await nats.restart(configuration: Self.heldUser(denied) + "jetstream: { max_file_store: 450KB }")
            let told = try await Self.run("repartition", "2", "--nats", nats.url, exits: 1)
            #expect(told.contains("JetStream has no space for more moved records"), "\(told)")
            try await nats.restart(configuration: Self.heldUser(denied) + "jetstream: { max_file_store: 10GB }")
            let more = try await Self.run("repartition", "2", "--nats", nats.url)
            #expect(more.contains("moved to 2 partitions: 2000 records"), "\(more)")
            Self.expectSame(before, try await Self.states(of: Self.quarters, on: nats, partitions: 2), "moved")
        }
    }

    private static func hasCopies(_ nats: NATSTestServer) async throws -> Bool {
        try await !streams(nats, "INK_MOVING_").isEmpty
    }

    @Test func `stopped before everything is copied, it is undone by the old number`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await Self.provision(nats)
            try await NATSConnection.with(nats) { connection in
                // As a run leaves them that is killed while the server copies.
                try await JetStream(connection).capture(["ink.0.PARKED.log"], by: "INK_LOG_0")
                let copy = Array(#"{"name":"INK_MOVING_LOG_0","subjects":["copy"],"storage":"memory"}"#.utf8)
                _ = try await connection.request(copy, to: "$JS.API.STREAM.CREATE.INK_MOVING_LOG_0")
            }
            #expect(try await Self.hasCopies(nats))
            let undone = try await Self.run("repartition", "1", "--nats", nats.url)
            #expect(undone.contains("is undone: the number of partitions is 1"), "\(undone)")
            #expect(try await !Self.hasCopies(nats))
            let same = try await Self.run("repartition", "1", "--nats", nats.url, exits: 1)
            #expect(same.contains("the number of partitions is 1 already"), "\(same)")
        }
    }

    @Test func `beside another move it is refused, and both tell of themselves`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            try await Self.provision(nats)
            try await NATSConnection.with(nats) { connection in
                let heard = Locked<Set<String>>([])
                _ = try connection.subscribe("ink.members.*") { message in
                    let subject = message.subject
                    heard.withLock { _ = $0.insert(subject) }
                }
                let other = Task {
                    while !Task.isCancelled {
                        try connection.publish([], to: "ink.members.MOVING-other")
                        try await Task.sleep(for: .milliseconds(200))
                    }
                }
                let before = try await Self.streams(nats)
                let refused = try await Self.run("repartition", "2", "--nats", nats.url, exits: 1)
                #expect(refused.contains("another lectern repartition of the root runs"), "\(refused)")
                #expect(try await Self.streams(nats) == before)
                other.cancel()
                _ = await other.result
                #expect(heard.withLock { $0.count } == 2, "\(heard)")
                _ = try await Self.run("repartition", "2", "--nats", nats.url)
            }
        }
    }

    @Test func `it may be killed at any time, and run again`() async throws {
        let seed = TestSeed.choose()
        try await NATSTestServer.with(jetStream: true) { nats in
            var random = SeededGenerator(seed: seed)
            _ = try await Self.fill(nats)
            for number in 0..<30 { try await Self.write((1...60).map { Self.stroke($0) }, to: "r\(number)", on: nats) }
            let folder = try TestFiles.path("killed")
            _ = try await Self.run("backup", folder, "--nats", nats.url)
            let before = try await NATSTestServer.with(jetStream: true) { copy in
                _ = try await Self.run("restore", folder, "--nats", copy.url)
                return try await Self.states(on: copy, partitions: 1)
            }
            for round in 1...rounds(6) {
                // Also to another number than the run before.
                let partitions = [3, 2, 4, 1][round % 4]
                let process = try LecternProcess(["repartition", "\(partitions)", "--nats", nats.url])
                // At some moment from the first step on.
                try await eventually(
                    "it begins", every: .milliseconds(2),
                    is: process.log.contains("the server copies") || process.hasExited)
                try await Task.sleep(for: .milliseconds(random.int(0...120)))
                process.send(SIGKILL)
                await process.end()
                print("killed after: \(process.log.split(separator: "\n").last ?? "nothing")")
                guard process.log.contains("everything is copied"), try await Self.hasCopies(nats) else { continue }
                // No daemon makes empty streams beside the copies: it waits, or ends where streams of the old number
                // are left.
                let streams = try await Self.streams(nats)
                let daemon = try DaemonProcess("early", nats: nats.url, ["subjects.partitions=\(partitions)"])
                try await eventually(
                    "the daemon waits or has ended",
                    is: daemon.log.contains("partition not open yet") || daemon.hasExited)
                if daemon.hasExited { #expect(daemon.log.contains("set it to"), "\(daemon.log)") }
                #expect(try await Self.streams(nats) == streams)
                await daemon.kill()
            }
            let (code, log) = try await LecternProcess.run("repartition", "3", "--nats", nats.url)
            #expect(code == 0 || log.contains("the number of partitions is 3 already"), "\(log)")
            let after = try await Self.states(on: nats, partitions: 3)
            Self.expectSame(before, after, "moved after kills")
        }
    }
}
