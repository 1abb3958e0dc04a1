import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport

/// A teacher who publishes a random script until stopped, and records the service's feedback.
final class TestTeacher: Sendable {
    /// Feedback on a number, except missing ranges.
    enum Answer: Sendable, Hashable {
        case applied(number: Int64, index: UInt64)
        case rejected(number: Int64)
        case gaveUp(from: Int64, to: Int64)
    }

    struct Progress: Sendable {
        var isStopped = false
        /// Messages that the journal has acknowledged.
        var acknowledged = 0
        /// Number of refusals by JetStream.
        var refusals = 0
        var answers: Set<Answer> = []
        /// The first message of each number as it was sent.
        var sent: [Int64: String] = [:]
    }

    let author: String
    private let link: LossyLink
    private let script: Locked<Script>
    private let seed: UInt64
    private let isPlain: Bool
    private let pace: Duration
    private let state = Locked(Progress())

    /// Messages under way at most; the teacher waits then.
    private static let bound = 64

    init(
        _ author: String, _ connection: NATSConnection, address: String, seed: UInt64, isPlain: Bool, pace: Duration
    ) throws {
        self.author = author
        self.seed = seed
        self.isPlain = isPlain
        self.pace = pace
        link = LossyLink(connection: connection, subject: "\(address).in.\(author)")
        script = Locked(Script(seed: seed, isPlain: isPlain))
        _ = try connection.subscribe("\(address).feedback.\(author)") { [state] message in
            guard let answer = Answer(message.copyPayload()) else { return }
            state.withLock { _ = $0.answers.insert(answer) }
        }
    }

    var progress: Progress { state.withLock { $0 } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Publishes until `stop()`, then waits until all messages are acknowledged.
    func write(_ video: Video) async throws {
        var random = SeededGenerator(seed: seed ^ 0x5eed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var underWay = 0
            while !progress.isStopped {
                let step = script.withLock { $0.next() }
                let time = Int(video.time())
                for (order, body) in step.bodies.enumerated() {
                    let text = body(time)
                    if order == 0 { state.withLock { $0.sent[Int64(step.number)] = text } }
                    let id = "\(author)-\(step.number)-\(order)"
                    // The first message begins the sequence.
                    if step.number == 1 || isPlain {
                        if step.number == 1 {
                            try await send(text, id)
                        } else {
                            group.addTask { try await self.send(text, id) }
                        }
                    } else {
                        let fate = LossyLink.fate(&random)
                        group.addTask {
                            try await Task.sleep(for: fate.delay)
                            try await self.send(text, id)
                            if fate.isRepeated { try await self.send(text, id + "-again") }
                        }
                    }
                    underWay += 1
                    if underWay > Self.bound {
                        try await group.next()
                        underWay -= 1
                    }
                }
                try await rest(isPlain ? pace : pace * Double.random(in: 0..<2, using: &random))
            }
            try await group.waitForAll()
        }
    }

    /// Sleeps until the next action is due, or `stop()`.
    func rest(_ time: Duration) async throws {
        let due = ContinuousClock.now + time
        while !progress.isStopped, ContinuousClock.now < due {
            try await Task.sleep(for: min(.milliseconds(250), ContinuousClock.now.duration(to: due)))
        }
    }

    private func send(_ text: String, _ id: String) async throws {
        try await link.send(text, id: id) { state.withLock { $0.refusals += 1 } }
        state.withLock { $0.acknowledged += 1 }
    }

    /// The answers to its last number.
    var last: [Answer] {
        let progress = progress
        return progress.answers.filter {
            switch $0 {
            case .applied(let number, _), .rejected(let number): number == progress.sent.keys.max()
            case .gaveUp(_, let number): number == progress.sent.keys.max()
            }
        }
    }

    /// Publishes another stroke, and returns its number once it is acknowledged.
    func draw(_ video: Video) async throws -> Int64 {
        let step = script.withLock { $0.stroke() }
        let text = step.bodies[0](Int(video.time()))
        state.withLock { $0.sent[Int64(step.number)] = text }
        try await send(text, "\(author)-\(step.number)-0")
        return Int64(step.number)
    }

    /// Publishes a number again, whose feedback may have been lost.
    func ask(again number: Int64) async throws {
        guard let text = progress.sent[number] else { return }
        try await link.send(text, id: UUID().uuidString)
    }
}

extension TestTeacher.Answer {
    private struct Wire: Decodable {
        let kind: String
        let n: Int64?
        let index: UInt64?
        let from: Int64?
        let to: Int64?
    }

    fileprivate init?(_ bytes: [UInt8]) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: Data(bytes)) else { return nil }
        switch (wire.kind, wire.n, wire.index, wire.from, wire.to) {
        case ("applied", let number?, let index?, _, _): self = .applied(number: number, index: index)
        case ("rejected", let number?, _, _, _): self = .rejected(number: number)
        case ("gave-up", _, _, let from?, let to?): self = .gaveUp(from: from, to: to)
        default: return nil
        }
    }
}

/// The link from a teacher to NATS. It delays and repeats messages; a lost message is one with a long delay.
struct LossyLink: Sendable {
    /// What happens to a message.
    struct Fate: Sendable {
        let delay: Duration
        let isRepeated: Bool
    }

    static func fate(_ random: inout SeededGenerator) -> Fate {
        let delay: Duration =
            switch random.int(0..<100) {
            // Lost, and sent again before or after the service gives it up after 2 s.
            case ..<4: .milliseconds(random.int(200...2600))
            // Overtaken.
            case ..<14: .milliseconds(random.int(20...120))
            default: .zero
            }
        return Fate(delay: delay, isRepeated: random.chance(5, in: 100))
    }

    let connection: NATSConnection
    let subject: String
    /// How long sending a message is retried.
    static let timeout = Duration.seconds(90)

    /// Sends a message until JetStream acknowledges it.
    /// - Parameter onRefusal: called if JetStream refuses it; not for a missing reply.
    func send(_ body: String, id: String, onRefusal: () -> Void = {}) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        var attempt = 0
        // An id counts in the whole partition, which other rooms share.
        var usedID = "\(subject)/\(id)"
        while true {
            let reply = try? await connection.request(
                Array(body.utf8), to: subject, headers: ["Ink-Session": "lesson", "Nats-Msg-Id": usedID],
                timeout: .seconds(1))
            attempt += 1
            if let reply {
                let answer = try? JSONDecoder().decode(Acknowledgement.self, from: Data(reply.payload))
                if let sequence = answer?.seq, sequence > 0, answer?.error == nil { return }
                // After an election a stream may know the id of a message that it does not have.
                if answer?.seq == 0 || answer?.error?.code == 10158 { usedID = "\(subject)/\(id)/\(attempt)" }
                onRefusal()
            }
            guard ContinuousClock.now < deadline else {
                throw Unexpected("\(subject) is not accepted: \(body.prefix(80))")
            }
            try await Task.sleep(for: .milliseconds(reply == nil ? 50 : 200))
        }
    }

    private struct Acknowledgement: Decodable {
        struct Failure: Decodable {
            let code: Int?

            private enum CodingKeys: String, CodingKey {
                case code = "err_code"
            }
        }
        let seq: UInt64?
        let error: Failure?
    }
}

/// The actions of a teacher, random from a seed.
struct Script {
    struct Step: Sendable {
        let number: Int
        /// The bodies of its messages; the media time is filled in when they are sent.
        let bodies: [@Sendable (_ time: Int) -> String]
    }

    private var random: SeededGenerator
    private var number = 0
    private let isPlain: Bool

    /// - Parameter isPlain: only strokes of equal length, without shards.
    init(seed: UInt64, isPlain: Bool) {
        random = SeededGenerator(seed: seed)
        self.isPlain = isPlain
    }

    mutating func next() -> Step {
        number += 1
        let points = Handwriting.strokes.randomElement(using: &random) ?? []
        guard !isPlain, number > 1 else { return draw(Array(points.prefix(20)), shards: 1) }
        switch random.int(0..<100) {
        case ..<12: return command(2)
        case ..<20: return command(3)
        case ..<22: return command(4)
        case ..<25: return draw(points, shards: 1, element: 99)
        case ..<45: return draw(points, shards: random.int(2...4))
        default: return draw(points, shards: 1)
        }
    }

    /// A stroke in one message.
    mutating func stroke() -> Step {
        number += 1
        return draw(Array((Handwriting.strokes.randomElement(using: &random) ?? []).prefix(20)), shards: 1)
    }

    private func command(_ action: Int) -> Step {
        Step(number: number, bodies: [{ [number] time in #"{"n":\#(number),"a":\#(action),"t":\#(time)}"# }])
    }

    private mutating func draw(_ points: [ModelMessage.Point], shards: Int, element: Int = 0) -> Step {
        let first = shards > 1 && Bool.random(using: &random) ? 1 : 0
        let colour = random.int(0..<8)
        let bodies = (0..<shards).map { shard -> @Sendable (Int) -> String in
            let part = points[points.count * shard / shards..<points.count * (shard + 1) / shards]
            let text = part.map { #"{"x":\#($0.x),"y":\#($0.y)}"# }.joined(separator: ",")
            let head = #"{"n":\#(number),"c":\#(colour),"l":3,"s":\#(shards > 1 ? shards : 0),"o":\#(shard + first)"#
            return { #"\#(head),"e":\#(element),"a":1,"t":\#($0),"w":1024,"h":768,"d":[\#(text)]}"# }
        }
        return Step(number: number, bodies: bodies)
    }
}

/// Strokes to publish.
enum Handwriting {
    static let strokes: [[ModelMessage.Point]] = {
        let messages = SampleLesson.short.flatMap { (try? $0.messages()) ?? [] }
        return messages.compactMap { try? ModelMessage($0).points }.filter { $0.count >= 4 }
    }()
}
