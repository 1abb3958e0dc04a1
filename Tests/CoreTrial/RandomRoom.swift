// Calls of the site's core, made by seed or known, as one tape: tests play it natively, and in browsers on
// `lectern.wasm`, and compare each answer.

package import ClientCore
package import StrokeWire
package import TestSupport
package import Whiteboard

/// The service's room with three authors who do anything at random: the board that clients have to agree with.
package struct RandomRoom {
    package private(set) var room: Room
    /// All operations so far, as they are released.
    package private(set) var operations: [ReleasedOperation] = []
    /// What the authors sent, as it is in the log.
    private var heard: [IncomingMessage] = []
    package var random: TestSupport.SeededGenerator
    private var effects = RoomEffects()
    private var numbers = [0, 0, 0]
    private var now = Instant(nanoseconds: 1_000_000_000)

    package init(_ history: HistoryConfiguration, seed: UInt64) {
        var intake = IntakeLimits()
        intake.wire.colours = .rgb
        room = Room(configuration: RoomConfiguration(intake: intake, history: history), at: now)
        random = TestSupport.SeededGenerator(seed: seed)
    }

    /// Rules of undo and clear, as a service may be set to.
    package static func history(_ seed: UInt64) -> HistoryConfiguration {
        HistoryConfiguration(
            scope: seed % 2 == 0 ? .author : .room, depth: seed % 3 == 0 ? 7 : 100,
            clear: seed / 2 % 2 == 0 ? .undoable : .final)
    }

    /// Sends a random message; it may be rejected, as an undo of nothing is.
    package mutating func act() {
        let who = random.int(0...2)
        let number = numbers[who]
        numbers[who] += 1
        now = now + .seconds(1)
        let page = random.chance(1, in: 3) ? ",\"g\":\(random.int(0...3))" : ""
        let time = random.chance(1, in: 2) ? ",\"t\":\(number * 1000)" : ""
        let body = body()
        guard let author = AuthorID(["ann", "ben", "cleo"][who]) else { return }
        let message = IncomingMessage(
            author: author, session: nil, bytes: Array("{\"n\":\(number)\(page)\(time),\(body)}".utf8), loggedAt: now)
        heard.append(message)
        room.receive(message, incarnation: { "life-1" }, at: now, into: &effects)
        for case .head(let operation) in effects.list {
            var order: [Int]?
            if case .arrange(let pages, _) = operation.effect { order = pages }
            operations.append(
                ReleasedOperation(
                    index: operation.index, author: operation.author, reference: operation.reference,
                    isLate: operation.isLate, page: operation.page, action: operation.action, order: order,
                    bytes: operation.restoredMessage, digest: operation.digest))
        }
        effects.removeAll()
    }

    private mutating func body() -> String {
        func points(_ count: Int) -> String {
            let points = (0..<count).map { "{\"x\":\($0 * 3 + random.int(0...900)),\"y\":\(random.int(0...700))}" }
            return "\"d\":[\(points.joined(separator: ","))]"
        }
        switch random.int(0...29) {
        case 0...5: return "\"a\":2"
        case 6...8: return "\"a\":3"
        case 9: return "\"a\":4"
        case 10: return "\"a\":5,\"g\":\(random.int(0...4))"
        case 11: return "\"a\":6,\"v\":\(random.pick(["[0]", "[1,0]", "[2,0,1]", "[3,1]"]))"
        case 12:
            let asset = String(repeating: "0123456789abcdef", count: 4)
            return "\"e\":5,\"i\":\"\(asset)\",\(points(2))"
        case 13: return "\"e\":6,\"m\":[1,0,0,1,20,30],\"k\":\(random.int(0...1)),\(points(random.int(3...9)))"
        case 15:
            let places = (0..<random.int(1...20)).map {
                "{\"x\":\(random.int(0...900)),\"y\":\(random.int(0...700)),\"m\":\($0 * random.int(0...400))}"
            }
            return "\"e\":7,\"c\":\(random.int(0...7)),\"d\":[\(places.joined(separator: ","))]"
        case 18:
            return
                "\"e\":8,\"c\":\(random.int(0...7)),\"l\":24,\"x\":\"\(random.pick(["a", "zwei\\nZeilen", "<&>", "שלום"]))\",\(points(2))"
        case 14: return "\"w\":2048,\"h\":1536,\"other\":\"ü\",\(points(random.int(1...40)))"
        case 19:
            let asset = String(repeating: "0123456789abcdef", count: 4)
            return random.pick([
                "\"a\":7,\"p\":\(random.int(0...4)),\"l\":\(random.int(8...64))",
                "\"a\":7,\"i\":\"\(asset)\",\"p\":1,\"k\":\(random.int(0...3)),\(points(2))",
            ])
        case 20, 21:
            let element = random.int(9...10)
            return "\"e\":\(element),\"c\":\(random.int(0...7)),\"l\":\(random.int(1...30)),\(points(5))"
        case 16, 17:
            let named = (0..<random.int(1...5)).map { _ in random.int(1...(operations.count + 2)) }
            return "\"a\":8,\"v\":\(Array(Set(named)).sorted())"
        default: return "\"c\":\(random.int(0...7)),\"l\":\(random.int(1...20)),\(points(random.int(1...40)))"
        }
    }

    /// All of it as a recorded lesson: replies with so many operations each, the first with a board.
    package func lesson(limit: Int) throws(Rejection) -> [[UInt8]] {
        var recording = RecordedRoom(configuration: room.configuration)
        for message in heard { recording.receive(message, incarnation: { "life-1" }) }
        recording.computeTimes()
        var request = ReplayRequest(limit: limit)
        var parts: [[UInt8]] = []
        repeat {
            guard let page = recording.page(request, through: recording.count) else { break }
            let bytes = page.encoded(palette: .standard, style: "smooth")
            parts.append(bytes)
            request.after = try ReplayReply(decoding: bytes).next
        } while request.after != nil
        return parts
    }

    /// The board for a student who joins now, as it is sent.
    package func replyBytes(_ encoding: WireEncoding = .json) -> [UInt8] {
        guard let board = room.catchUpHead(JoinRequest()) else { return [] }
        return board.encoded(palette: .standard, style: "smooth", as: encoding)
    }

    /// The same, read again.
    package func reply(_ encoding: WireEncoding) throws -> JoinReply {
        let bytes = replyBytes(encoding)
        switch encoding {
        case .json: return try JoinReply(decoding: bytes)
        case .binary: return try JoinReply(binary: bytes)
        }
    }
}

/// Events as a gateway sends them.
package enum GatewayEvent {
    package static func operation(
        _ index: UInt64, by author: String = "ann", reference: UInt64? = nil, page: Int = 0, isLate: Bool = false,
        digest: BoardDigest? = nil, _ message: String
    ) -> [UInt8] {
        let reference = reference.map { ",\"ref\":\($0)" } ?? ""
        let digest = digest.map { ",\"digest\":\"\($0)\"" } ?? ""
        let late = isLate ? ",\"late\":true" : ""
        return Array(
            "{\"index\":\(index),\"author\":\"\(author)\",\"page\":\(page)\(reference)\(late)\(digest),\"message\":\(message)}"
                .utf8)
    }

    package static func operation(_ operation: ReleasedOperation) -> [UInt8] {
        self.operation(
            operation.index, by: operation.author.text, reference: operation.reference, page: operation.page,
            isLate: operation.isLate, digest: operation.digest, String(decoding: operation.bytes, as: UTF8.self))
    }

    /// The board of a room without operations.
    package static var emptyBoard: [UInt8] {
        JoinReplyWriter(room: "", index: 0, digest: .empty, palette: .standard, style: "smooth")
            .board(
                width: 1024, height: 768, isProvisional: true, visible: EmptyCollection<JoinedOperation>(),
                redo: EmptyCollection<JoinedOperation>())
    }

    /// A part of a recorded lesson: a blank board with an index, and a stroke in each of the next three seconds.
    package static func lesson(after index: UInt64) -> [UInt8] {
        let board = JoinReplyWriter(
            room: "life-1", index: index, digest: .empty, palette: .standard, style: "smooth"
        ).board(
            width: 1024, height: 768, isProvisional: false, visible: EmptyCollection<JoinedOperation>(),
            redo: EmptyCollection<JoinedOperation>())
        let operations = (1...3).map { place in
            """
            {"ep":0,"e":\(place * 1000),"index":\(index + UInt64(place)),"author":"ann",\
            "message":{"n":\(place),"d":[{"x":\(place),"y":1}]}}
            """
        }
        return Array(
            """
            {"room":"life-1","epochs":[{"ep":0,"first":1,"last":\(index + 3),"from":1000,"to":3000}],\
            "board":\(String(decoding: board, as: UTF8.self)),"ops":[\(operations.joined(separator: ","))]}
            """.utf8)
    }

    package static func mark(_ room: String, _ index: UInt64, _ digest: BoardDigest, video: Double? = nil) -> [UInt8] {
        Mark(
            room: room, index: index, digest: digest, video: video.flatMap { MediaTime(milliseconds: $0) },
            gate: video == nil ? .open : .video
        ).encoded()
    }
}
