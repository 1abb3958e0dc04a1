import StrokeWire
import TestSupport
import Testing

/// The test vectors that concern single messages and names. Those of rooms and clocks are checked with Whiteboard, of
/// styles with Ink, of students with LecternClient.
@Suite struct `The protocol's test vectors` {
    @Test func `decode every message as stated, or reject it with the stated code`() throws {
        for vector in try ProtocolVectors.cases("messages.json", of: MessageVector.self, atLeast: 70) {
            let bytes = try vector.bytes()
            var points: [StrokePoint] = []
            do throws(MalformedMessage) {
                let message = try StrokeMessage(decoding: bytes, limits: vector.limitsInForce, points: &points)
                #expect(MessageVector.Accepted(message, points) == vector.accepted, "\(vector.name)")
            } catch {
                #expect(MessageVector.Rejected(error) == vector.rejected, "\(vector.name): \(error.rejection.message)")
            }
        }
    }

    @Test func `reject with every code that a single message can have`() throws {
        let cases = try ProtocolVectors.cases("messages.json", of: MessageVector.self, atLeast: 70)
        let codes = Set(cases.compactMap { $0.rejected?.code })
        let ofRooms: Set<RejectionCode> = [
            .tooManyPending, .shardConflict, .tooLate, .nothingToUndo, .nothingToRedo, .roomFull, .rateLimited,
            .sessionOver, .muted, .misaddressed, .nothingToRemove,
        ]
        #expect(codes == Set(RejectionCode.allCases.filter { !ofRooms.contains($0) }.map(\.rawValue)))
    }

    @Test func `give boards the stated digests`() throws {
        let vectors = try ProtocolVectors.read("digests.json", as: DigestVectors.self)
        #expect(vectors.boards.count >= 10)
        #expect(vectors.sequences.count >= 6)
        for board in vectors.boards {
            #expect(BoardDigest(of: board.indices).description == board.digest, "\(board.indices.prefix(5))")
        }
        for sequence in vectors.sequences {
            var digest = BoardDigest.empty
            var removals: [UInt64: [UInt64]] = [:]
            for operation in sequence.operations {
                switch operation.action {
                case "draw": digest.insert(operation.index)
                case "remove":
                    let removed = try #require(operation.v)
                    removals[operation.index] = removed
                    for index in removed { digest.remove(index) }
                case "undo", "redo":
                    let reference = try #require(operation.ref)
                    let isRemoval = removals[reference] != nil
                    for index in removals[reference] ?? [reference] {
                        (operation.action == "undo") == isRemoval ? digest.insert(index) : digest.remove(index)
                    }
                case "clear": digest = .empty
                default: #expect(["arrange", "paper", "pointer", "turn"].contains(operation.action))
                }
                #expect(digest.description == operation.digest, "\(sequence.name), \(operation.index)")
                #expect(digest == BoardDigest(of: operation.visible), "\(sequence.name), \(operation.index)")
            }
        }
    }

    @Test func `place rooms into the stated partitions`() throws {
        let vectors = try ProtocolVectors.read("partitions.json", as: PartitionVectors.self)
        #expect(vectors.rooms.count >= 36)
        for vector in vectors.rooms {
            let room = try #require(RoomID(vector.room))
            #expect(FNV1a32.hash(vector.room.utf8) == vector.hash, "\(vector.room)")
            #expect(RoomAddress.partition(of: room, among: vector.partitions) == vector.partition, "\(vector.room)")
            let address = RoomAddress(root: "ink", room: room, partitions: vector.partitions)
            #expect(address.description == vector.address)
        }
        #expect(!vectors.notNames.isEmpty && !vectors.notCohorts.isEmpty)
        for name in vectors.notNames {
            #expect(RoomID(name) == nil && AuthorID(name) == nil && CohortName(name) == nil)
        }
        for name in vectors.notCohorts { #expect(CohortName(name) == nil && RoomID(name) != nil) }
    }

    @Test func `are all listed in their article`() throws {
        let article = try ProtocolVectors.article("TestVectors")
        let files = try ProtocolVectors.files()
        #expect(files.count >= 7)
        for file in files { #expect(article.contains("`\(file)`"), "\(file)") }
    }
}

@Suite struct `The articles of the protocol` {
    /// Every JSON object of the transcript stands on a line of its own.
    @Test func `show bodies in the transcript that can be read`() throws {
        var counts: [String: Int] = [:]
        var subject = ""
        for line in try ProtocolVectors.article("Transcript").split(separator: "\n") {
            if let start = line.firstRange(of: "ink.0.physics.") {
                subject = String(line[start.upperBound...].prefix { $0 != " " && $0 != "`" })
            }
            guard line.hasPrefix("    {") else { continue }
            let bytes = Array(line.drop { $0 == " " }.utf8)
            let verb = String(subject.prefix { $0 != "." })
            counts[verb, default: 0] += 1
            switch verb {
            case "in" where line.contains("\"stream\""): continue
            case "in", "out", "head": _ = try StrokeMessage(decoding: bytes)
            case "feedback": _ = try FeedbackMessage(decoding: bytes)
            case "clock": _ = try ClockSample(decoding: bytes)
            case "mark": _ = try Mark(decoding: bytes)
            case "ctl" where line.contains("\"stream\""): continue
            case "ctl": _ = try ControlRecord(decoding: bytes)
            case "join" where line.contains("palette"): _ = try JoinReply(decoding: bytes)
            case "join": _ = try JoinRequest(decoding: bytes)
            case "image" where line.contains("error"): #expect(RequestError(decoding: bytes) != nil)
            case "image": _ = try ImageRequest(decoding: bytes)
            default: Issue.record("a body under no known subject: \(line)")
            }
        }
        for verb in ["in", "out", "head", "feedback", "clock", "mark", "ctl", "join", "image"] {
            #expect(counts[verb, default: 0] > 0, "no body of .\(verb)")
        }
    }
}

/// A message, and what becomes of it.
private struct MessageVector: Decodable {
    struct Limits: Decodable {
        let bytes, points, shards: Int?
    }

    struct Accepted: Decodable, Equatable {
        let n: Int64
        let c: UInt32
        let l: Double
        let s, o: Int
        let e, a: UInt8
        let t: Int64?
        let w, h: Double?
        let points: [Point]

        init(_ message: StrokeMessage, _ points: [StrokePoint]) {
            (n, c, l, t) = (message.number, message.colour, message.width, message.time)
            (s, o) = (message.shardCount, message.shardOrder)
            (e, a) = (message.element.rawValue, message.action.rawValue)
            (w, h) = (message.boardWidth, message.boardHeight)
            self.points = points.map(Point.init)
        }
    }

    struct Point: Decodable, Equatable {
        let x, y: Double
        let f, i, z, m: Double?

        init(_ point: StrokePoint) {
            (x, y, f) = (point.x, point.y, point.force)
            (i, z, m) = (point.altitude, point.azimuth, point.milliseconds)
        }
    }

    struct Rejected: Decodable, Equatable {
        let code: String
        let field: String?
        let n: Int64?
        let o: Int?

        init(_ message: MalformedMessage) {
            (code, field) = (message.rejection.code.rawValue, message.rejection.field)
            (n, o) = (message.number, message.order)
        }
    }

    let name: String
    let message, hex, colour: String?
    let limits: Limits?
    let accepted: Accepted?
    let rejected: Rejected?

    func bytes() throws -> [UInt8] {
        if let message { return Array(message.utf8) }
        return try hexadecimal(try #require(hex))
    }

    var limitsInForce: WireLimits {
        var limits = WireLimits()
        if let bytes = self.limits?.bytes { limits.messageBytes = bytes }
        if let points = self.limits?.points { limits.points = points }
        if let shards = self.limits?.shards { limits.shards = shards }
        if colour == "rgb" { limits.colours = .rgb }
        return limits
    }
}

private struct DigestVectors: Decodable {
    struct Board: Decodable {
        let indices: [UInt64]
        let digest: String
    }

    struct Sequence: Decodable {
        let name: String
        let operations: [Operation]
    }

    struct Operation: Decodable {
        let index: UInt64
        let action: String
        let ref: UInt64?
        let v: [UInt64]?
        let visible: [UInt64]
        let digest: String
    }

    let boards: [Board]
    let sequences: [Sequence]
}

private struct PartitionVectors: Decodable {
    struct Room: Decodable {
        let room: String
        let partitions: Int
        let hash: UInt32
        let partition: Int
        let address: String
    }

    let rooms: [Room]
    let notNames, notCohorts: [String]
}

/// The bytes that hexadecimal digits stand for.
func hexadecimal(_ text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map { start in
        try #require(UInt8(String(digits[start..<start + 2]), radix: 16))
    }
}
