import Foundation
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A power cut leaves zeros, or anything else, where the log's last records were. nats-server 2.9 then acknowledges what it
/// cannot read.
@Suite(.timeLimit(.minutes(30)), .endsProcesses) struct DamagedLogTests {
    /// What a daemon that repairs the log does, as others see it.
    enum Step: String, Sendable, CaseIterable {
        case fill, copy, later, delete, base, decide, note

        var subject: String {
            switch self {
            case .fill: "ink.0.FILLER.ctl"
            case .copy, .later: "ink.0.*.in.*"
            case .delete: "$JS.API.STREAM.PURGE.INK_LOG_0"
            case .base: "ink.0.*.checkpoint.base"
            case .decide: "ink.0.*.ctl"
            case .note: "ink.0.COVERED.checkpoint"
            }
        }

        /// Of those messages.
        var number: Int {
            switch self {
            case .later: 5
            default: 1
            }
        }

        func counts(_ message: borrowing NATSMessage) -> Bool {
            switch self {
            case .copy, .later: message.header("Ink-Copied") != nil
            case .decide: String(decoding: message.copyPayload(), as: UTF8.self).contains("restore")
            default: true
            }
        }

        /// Whether it is for servers alone that cannot read what they store.
        var isOfFile: Bool { [.fill, .copy, .later, .delete].contains(self) }

        /// Of the log's bytes. Of 54 records the 26th is the last that a checkpoint holds; 11 of those after it are there at
        /// least where they are to be copied.
        var damagedFrom: Range<Double> { isOfFile ? 0.7..<0.95 : 0.15..<0.45 }
    }

    @Test(arguments: Step.allCases)
    func `has all that could be read, once, wherever the daemon that repairs it is killed`(step: Step) async throws {
        let seed = TestSeed.choose()
        try await NATSTestServer.withConnection(jetStream: true) { nats, client in
            let lesson = DamagedLesson(nats: nats, client: client)
            var expected = try await lesson.hold(step, seed: seed)
            let isDead = try await JetStream(client).storesUnreadably("INK_LOG_0", filler: "ink.0.FILLER.ctl")
            let isKilled = try await lesson.serveUntil(step)
            switch step {
            case .fill, .delete: #expect(isKilled == isDead)
            // A server that begins its sequences anew has nothing that could be copied.
            case .copy, .later: #expect(isDead || !isKilled)
            case .base, .decide, .note: #expect(isKilled)
            }

            let first = try await lesson.serve {
                _ = try await lesson.boards(expected)
                for room in DamagedLesson.rooms where expected[room] != nil {
                    try await lesson.write(1, to: room, by: "ben")
                    expected[room, default: []].append("ben 1")
                }
                return try await lesson.boards(expected)
            }
            // What it acknowledges now it can read later.
            await nats.kill()
            try await lesson.restart()
            let second = try await lesson.serve { [expected] in try await lesson.boards(expected) }
            #expect(first == second)
        }
    }
}

/// Rooms of which some operations are in checkpoints, and some in the log alone.
private struct DamagedLesson: Sendable {
    typealias Step = DamagedLogTests.Step

    static let rooms = ["saved", "unsaved", "new"]
    private static let settings = ["checkpoint.operations=20", "checkpoint.interval=1h", "node.id=a"]

    let nats: NATSTestServer
    let client: NATSConnection

    private func address(_ room: String) throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID(room)), partitions: 1)
    }

    func write(_ number: Int, to room: String, by author: String = "anna") async throws {
        let author = try #require(AuthorID(author))
        let stroke = #"{"n":\#(number),"t":0,"w":400,"h":300,"d":[{"x":\#(number),"y":10},{"x":200,"y":150}]}"#
        let reply = try await client.request(Array(stroke.utf8), to: try address(room).subject(.input(author)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard !answer.contains(#""error""#) else { throw Unexpected(answer) }
    }

    private func write(_ numbers: ClosedRange<Int>, to room: String) async throws {
        for number in numbers { try await write(number, to: room) }
    }

    /// Writes to a log, kills the daemon and the server, and damages the log's file.
    /// - Returns: the operations of each room that checkpoints or the log have.
    func hold(_ step: Step, seed: UInt64) async throws -> [String: [String]] {
        let daemon = try await DaemonProcess.serving("a", nats: nats.url, Self.settings)
        try await write(1...6, to: "unsaved")
        try await write(1...20, to: "saved")
        let jetStream = JetStream(client)
        try await eventually("the room with many operations is saved") {
            let manifest = try await jetStream.lastMessage("INK_CHECKPOINT_0", subject: "ink.0.saved.checkpoint")
            let text = manifest.map { String(decoding: $0.payload, as: UTF8.self) } ?? ""
            return text.contains(#""sequence":26,"state":"#) ? () : nil
        }
        await daemon.kill()
        try await write(7...26, to: "unsaved")
        try await write(1...8, to: "new")
        await nats.kill()
        var generator = SeededGenerator(seed: seed)
        let damage: NATSTestServer.Damage = [.zeros, .noise].randomElement(using: &generator) ?? .zeros
        let share = Double.random(in: step.damagedFrom, using: &generator)
        try nats.damage("INK_LOG_", damage, from: share, using: &generator)
        try await restart()
        var found = ["saved": Set(1...20)]
        let info = try await jetStream.streamInfo("INK_LOG_0")
        for sequence in stride(from: max(1, info.firstSequence), through: info.lastSequence, by: 1) {
            guard let message = try await jetStream.message("INK_LOG_0", sequence) else { continue }
            let room = String(message.subject.split(separator: ".")[2])
            let stroke = try StrokeMessage(decoding: message.payload, limits: .accepted)
            found[room, default: []].insert(Int(stroke.number))
        }
        return found.mapValues { $0.sorted().map { "anna \($0)" } }
    }

    func restart() async throws {
        try await nats.restart()
        try await eventually(
            "the client is connected", is: (try? await client.flush()) != nil && client.state == .connected)
    }

    /// Runs a daemon that is killed when a message of a step comes, or ends when it serves.
    /// - Returns: whether it was killed by the message.
    func serveUntil(_ step: Step) async throws -> Bool {
        let daemon = try DaemonProcess("a", nats: nats.url, Self.settings)
        let seen = Locked(0)
        let identifier = daemon.identifier
        let subscription = try client.subscribe(step.subject) { message in
            guard step.counts(message) else { return }
            let count = seen.withLock { count in
                count += 1
                return count
            }
            if count == step.number { Foundation.kill(identifier, SIGKILL) }
        }
        defer { subscription.unsubscribe() }
        try await eventually("it is killed or serves", is: daemon.hasExited || daemon.log.contains(" serving"))
        await daemon.kill()
        return seen.withLock { $0 } >= step.number
    }

    func serve<Result>(_ body: () async throws -> Result) async throws -> Result {
        let daemon = try await DaemonProcess.serving("a", nats: nats.url, Self.settings)
        let result = try await body()
        #expect(await daemon.terminate() == 0)
        return result
    }

    /// Waits until each room has exactly these operations.
    /// - Returns: the digests.
    func boards(_ expected: [String: [String]]) async throws -> [String: BoardDigest] {
        var digests: [String: BoardDigest] = [:]
        for (room, operations) in expected {
            let address = try address(room)
            var last: [String] = []
            do {
                let digest: BoardDigest = try await eventually("\(room) has its operations") {
                    try client.publish(Array(#"{"m":1000,"r":0}"#.utf8), to: address.subject(.clock(.main)))
                    let reply = try JoinReply(
                        decoding: try await client.requestParts(
                            JoinRequest().encoded(), to: address.subject(.join(.main))
                        ).payload)
                    guard case .board(_, _, let visible, _, _) = reply.content else { throw Unexpected("no board") }
                    last = try visible.map { operation in
                        let stroke = try StrokeMessage(decoding: Array(operation.message), limits: .accepted)
                        return "\(operation.author) \(stroke.number)"
                    }
                    let isWhole = last.count == operations.count && Set(last) == Set(operations)
                    return isWhole && reply.index == UInt64(last.count) ? reply.digest : nil
                }
                digests[room] = digest
            } catch {
                throw Unexpected("\(error); of \(operations) it has \(last)")
            }
        }
        return digests
    }
}
