import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Lessons of handwriting` {
    @Test(arguments: SampleLesson.available)
    func `A lesson leaves as many strokes on its last board as its author left`(_ lesson: SampleLesson) throws {
        let probe = try played(lesson)
        #expect(probe.counts.intake.rejected.isEmpty)
        #expect(probe.counts.draws == lesson.strokeCounts.drawn)
        #expect(probe.visible.count == lesson.strokeCounts.left)
        #expect(probe.room.head.digest.value == plainDigest(probe.visible))
        #expect(probe.shown() == probe.applied.map(\.index))
    }

    /// A room that got the lesson at a hundred messages a second, and then a clock past its end.
    private func played(_ lesson: SampleLesson) throws -> RoomProbe {
        var probe = try RoomProbe(hearing: lesson)
        probe.clock(1e7, .main, #","d":true"#)
        probe.wait(.seconds(60))
        return probe
    }
}

/// Messages that are lost, repeated, reordered and sent again on request.
@Suite struct `Any loss, any order` {
    private static let seeds = TestSeed.choose(12)

    /// A room with one stroke. Before its first operation a room forgets authors whose messages were rejected.
    private func roomWithStroke(_ random: inout SeededGenerator) -> RoomProbe {
        let configuration = RoomConfiguration(intake: .fast, history: .random(depth: 1...12, using: &random))
        var probe = RoomProbe(configuration)
        probe.send(draw(1), by: .known("first"))
        return probe
    }

    @Test(
        """
        The log, the board and the moments of giving up are those of the plain rules; every operation ends applied, or its \
        author knows why not
        """,
        arguments: seeds)
    func agrees(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var probe = roomWithStroke(&random)
        var first = SentMessage(.draw, 1, by: .known("first"))
        first.ink = [0, 1]
        let start = Arrival(at: probe.now, content: .message(first))
        var lesson = LossyClass(seed: random.next(), at: probe.now, authors: 1...4, operations: 60, mutes: true)
        while !lesson.isOver { lesson.step(&probe) }
        while !isQuiet(probe) { lesson.step(&probe) }

        var plain = ModelRoom(probe.room.configuration.history)
        for arrival in [start] + lesson.arrivals { plain.receive(arrival) }
        plain.giveUp(until: probe.now)

        #expect(probe.giveUps.sorted() == plain.giveUps.sorted(), "seed \(seed)")
        try #require(probe.applied.map(\.summary) == plain.log, "seed \(seed)")
        #expect(probe.applied.map(\.index) == Array(1...UInt64(probe.applied.count)), "seed \(seed)")
        #expect(probe.visible == plain.board.visible, "seed \(seed)")
        for page in 0...4 {
            let visible = probe.room.head.visible(on: page).map(\.index)
            #expect(visible == plain.board.visible(on: page), "seed \(seed)")
        }
        let pages = probe.room.head.pages
        #expect(pages.shown == plain.board.shown && pages.order == plain.board.order, "seed \(seed)")
        #expect(pages.hidden == plain.board.hidden, "seed \(seed)")
        #expect(probe.room.head.digest.value == plain.board.digest, "seed \(seed)")
        for stroke in probe.room.head.visible {
            let points = try #require(stroke.decoded()).points
            let ink = points.map { Int($0.x) }
            #expect(ink == plain.ink[stroke.index], "seed \(seed)")
        }
        expectAllTold(lesson, probe, seed)
        #expect(probe.applied.count > 5, "seed \(seed): too little was applied for this to mean anything")
    }

    @Test(arguments: seeds)
    func `However late and often decisions come back: dense indices, all applied or its author told`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var probe = roomWithStroke(&random)
        probe.decisionsReturn = (0..<random.int(1...3)).map { _ in random.milliseconds(1...1500) }
        var lesson = LossyClass(seed: random.next(), at: probe.now, authors: 1...4, operations: 60, mutes: true)
        while !lesson.isOver { lesson.step(&probe) }
        while !isQuiet(probe) { lesson.step(&probe) }
        #expect(probe.applied.map(\.index) == Array(1...UInt64(probe.applied.count)), "seed \(seed)")
        #expect(probe.room.head.digest.value == plainDigest(probe.visible), "seed \(seed)")
        expectAllTold(lesson, probe, seed)
        let numbers = probe.applied.map { "\($0.author.text) \($0.number)" }
        #expect(Set(numbers).count == numbers.count, "seed \(seed): an operation was applied twice")
    }

    @Test func `Without loss everything is applied, whatever the order within 2 s, and nobody waits in the end`() {
        let seed = TestSeed.choose()
        var probe = RoomProbe(RoomConfiguration(intake: .fast))
        var lesson = LossyClass(
            seed: seed, at: probe.now, authors: 4...4, operations: 80,
            loss: LossyClass.Loss(lost: 0, repeated: 30, delayed: 0))
        while !lesson.isOver { lesson.step(&probe) }
        #expect(probe.after(.seconds(20)).decisions.isEmpty, "seed \(seed)")
        #expect(probe.room.assemblingCount == 0, "seed \(seed)")
        let rejected = probe.counts.intake.rejected
        let harmless: Set<RejectionCode> = [.nothingToUndo, .nothingToRedo, .nothingToRemove, .tooLate]
        #expect(Set(rejected.keys).isSubset(of: harmless), "seed \(seed)")
    }

    /// Whether no author was told anything for 12 s: nothing is awaited any more.
    private func isQuiet(_ probe: RoomProbe) -> Bool { probe.now - (probe.told.last?.at ?? probe.now) > .seconds(12) }

    private func expectAllTold(_ lesson: LossyClass, _ probe: RoomProbe, _ seed: UInt64) {
        var told: Set<String> = []
        for entry in probe.told {
            switch entry.feedback {
            case .applied(let number, _): told.insert("\(entry.author.text) \(number)")
            case .rejected(let number?, _, _): told.insert("\(entry.author.text) \(number)")
            case .gaveUp(let from, let to):
                for number in from...to { told.insert("\(entry.author.text) \(number)") }
            default: break
            }
        }
        #expect(lesson.arrived.subtracting(told) == [], "seed \(seed)")
    }
}

/// Malformed and hostile messages.
@Suite struct `Malformed bytes` {
    private static let mallory = AuthorID.known("mallory")

    @Test
    func `In the middle of a lesson change nothing of another author's ink; all are counted and told of`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let rules = HistoryConfiguration(scope: .author)
        let intake = IntakeLimits.fast
        var quiet = RoomProbe(RoomConfiguration(intake: intake, history: rules))
        var loud = quiet
        quiet.clock(0)
        loud.clock(0)
        // A room without an operation forgets authors whose messages were rejected or given up.
        quiet.send(draw(1), by: .known("first"))
        loud.send(draw(1), by: .known("first"))
        // Indices depend on what others do.
        var lesson = LossyClass(seed: random.next(), at: quiet.now, authors: 2...2, operations: 60, removes: false)
        var sent = 0
        var samples = 1
        while !lesson.isOver {
            let before = lesson.arrivals.count
            lesson.step(&quiet)
            let arrived = lesson.arrivals.dropFirst(before)
            for _ in 0..<random.int(0...8) {
                let bytes = Malformed.message(&random)
                // A clear, if it happens to be one, counts for everybody.
                if let header = try? StrokeMessage(decoding: bytes), header.action == .clear { continue }
                loud.send(bytes, by: Self.mallory, session: random.chance(10, in: 100) ? "s\(random.int(0...99))" : nil)
                sent += 1
            }
            loud.receiveClock(Malformed.message(&random))
            samples += 1
            let from = Int64.random(in: .min ... .max, using: &random)
            loud.record(.gaveUp(author: Self.mallory, from: from, to: .max, incarnation: nil))
            loud.wait(quiet.now - loud.now)
            for case .message(let sent) in arrived.map(\.content) { loud.send(sent.bytes, by: sent.author) }
        }
        quiet.wait(.seconds(40))
        loud.wait(.seconds(40))

        func ink(_ probe: RoomProbe) -> [[UInt8]] {
            probe.room.head.visible.filter { $0.author != Self.mallory }.map(\.message.bytes)
        }
        func log(_ probe: RoomProbe) -> [String] {
            probe.applied.filter { $0.author != Self.mallory }.map { "\($0.author.text) \($0.number) \($0.action)" }
        }
        #expect(log(loud) == log(quiet), "seed \(random.seed)")
        #expect(ink(loud) == ink(quiet), "seed \(random.seed)")
        #expect(log(quiet).count > 20, "seed \(random.seed)")
        func rejected(_ probe: RoomProbe) -> Int { probe.counts.intake.rejected.values.reduce(0, +) }
        let counted = rejected(loud) - rejected(quiet)
        let told = loud.told.count { told in
            guard told.author == Self.mallory, case .rejected = told.feedback else { return false }
            return true
        }
        #expect(loud.counts.intake.messages - quiet.counts.intake.messages == sent, "seed \(random.seed)")
        #expect(counted > sent / 4, "seed \(random.seed)")
        #expect(told >= counted, "seed \(random.seed)")
        let outcomes = loud.counts.samplesTaken + loud.counts.samplesIgnored + loud.counts.samplesRejected
        #expect(outcomes == samples && loud.counts.samplesRejected > 0, "seed \(random.seed)")
        #expect(loud.applied.map(\.index) == Array(1...UInt64(loud.applied.count)), "seed \(random.seed)")
        #expect(loud.shown() == loud.applied.map(\.index), "seed \(random.seed)")
    }

    @Test func `A message that cannot be read is answered without a number, and no room begins with it`() {
        var probe = RoomProbe()
        probe.send("", "{", "[]", #"{"n":-1}"#, #"{"n":9007199254740992}"#, #"{"d":[]}"#, #"{"n":"1"}"#)
        #expect(
            probe.takeTold() == [
                "rejected - - not-json", "rejected - - not-json", "rejected - - wrong-type",
                "rejected - 0 out-of-range n", "rejected - 0 out-of-range n", "rejected - 0 missing-field n",
                "rejected - 0 wrong-type n",
            ])
        #expect(probe.room.incarnation == "")
        #expect(probe.room.isBlank)
    }

    @Test func `The greatest number there is can be sent and followed by nothing`() {
        var probe = RoomProbe()
        probe.send(draw((1 << 53) - 1), draw((1 << 53) - 1), #"{"n":9007199254740991,"e":99,"d":[]}"#)
        #expect(probe.after(.seconds(60)).applied.count == 1)
    }
}

/// Hostile bytes: truncated, changed, nested, repeated, enormous, or nothing like a message.
enum Malformed {
    static func message(_ random: inout SeededGenerator) -> [UInt8] {
        let number = Int64(random.int(0...60))
        let texts = [
            draw(number, points: random.int(0...5)), shard(number, random.int(0...9), of: random.int(0...9)),
            undo(number), redo(number),
            #"{"n":\#(number),"a":\#(random.int(-2...9)),"e":\#(random.int(-2...9)),"d":[]}"#,
            #"{"n":\#(number),"s":\#(random.int(-5...2000)),"o":\#(random.int(-5...2000)),"d":[{"x":1,"y":1e400}]}"#,
            #"{"n":1e\#(random.int(0...400)),"l":\#(random.int(-1...1000)),"d":[{"x":1,"y":1}]}"#,
            #"{"n":\#(number),"n":\#(Int64.random(in: .min ... .max, using: &random)),"t":1e300,"d":{}}"#,
            #"{"n":\#(number),"q":\#(String(repeating: "[", count: random.int(1...20)))}"#,
            #"{"n":\#(number),"w":0,"h":1e9,"d":[1,null,"x",{}]}"#,
        ]
        var bytes = Array((texts.randomElement(using: &random) ?? "").utf8)
        switch random.int(0...5) {
        case 0: bytes.removeLast(random.int(0...bytes.count))
        case 1:
            for _ in 0..<random.int(1...4) { bytes[random.int(0...(bytes.count - 1))] = UInt8(random.int(0...255)) }
        case 2: bytes = (0..<random.int(0...200)).map { _ in UInt8(random.int(0...255)) }
        case 3: bytes.insert(contentsOf: [0xef, 0xbb, 0xbf], at: 0)
        default: break
        }
        return bytes
    }
}

/// The protocol's test vectors of rooms: what authors publish, and what they are told.
@Suite struct `The protocol's test vectors of rooms` {
    @Test func `have the stated feedback and operations, at the stated times`() throws {
        for vector in try ProtocolVectors.cases("rooms.json", of: RoomVector.self, atLeast: 26) {
            var probe = RoomProbe()
            let start = probe.now
            for step in vector.steps {
                probe.wait(start + .milliseconds(step.at) - probe.now)
                probe.send(step.message, by: try #require(AuthorID(step.author)), session: step.session)
            }
            probe.wait(start + .milliseconds(vector.until) - probe.now)
            let told = try probe.told.map { told in
                RoomVector.Told(
                    at: Int((told.at - start) / .milliseconds(1)), author: told.author.text,
                    body: try RoomVector.withoutSentence(told.feedback.encoded(session: told.session)))
            }
            #expect(told == vector.feedback, "\(vector.name)")
            #expect(probe.applied.count == vector.operations.count, "\(vector.name)")
            for (operation, expected) in zip(probe.applied, vector.operations) {
                #expect(try expected.describes(operation), "\(vector.name), operation \(operation.index)")
            }
        }
    }
}

private struct RoomVector: Decodable {
    struct Step: Decodable {
        let at: Int
        let author: String
        let session: String?
        let message: String
    }

    struct Told: Decodable, Equatable {
        let at: Int
        let author: String
        let body: AnyJSON
    }

    struct Numbered: Decodable {
        let index: UInt64
        let author: String
        let ref: UInt64?
        let late: Bool?
        let digest: String
        let message: AnyJSON

        /// A text is the message byte for byte, anything else its value.
        func describes(_ operation: Whiteboard.Operation) throws -> Bool {
            let bytes = operation.restoredMessage
            let isSame: Bool
            if case .string(let text) = message {
                isSame = Array(text.utf8) == bytes
            } else {
                isSame = try AnyJSON.decode(bytes) == message
            }
            return isSame && operation.index == index && operation.author.text == author
                && operation.reference == ref && operation.isLate == (late ?? false)
                && operation.digest.description == digest
        }
    }

    let name: String
    let steps: [Step]
    let until: Int
    let feedback: [Told]
    let operations: [Numbered]

    /// A body without the sentence of its error, which may change.
    static func withoutSentence(_ bytes: [UInt8]) throws -> AnyJSON {
        var body = try AnyJSON.decode(bytes)
        body["error"]?["message"] = nil
        return body
    }
}
