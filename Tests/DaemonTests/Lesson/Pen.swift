import Foundation
import NATSClient
import NATSTestServer
import TestSupport

/// A teacher who writes until told to stop, and hears what the service says.
final class Pen: Sendable {
    /// What the service said of a number, but for what is missing.
    enum Word: Sendable, Hashable {
        case applied(number: Int64, index: UInt64)
        case rejected(number: Int64)
        case gaveUp(from: Int64, to: Int64)
    }

    struct Progress: Sendable {
        var isStopped = false
        /// Messages that the journal has acknowledged.
        var acknowledged = 0
        /// Times that JetStream said no.
        var refusals = 0
        var words: Set<Word> = []
        /// The first message of each number as it was sent.
        var sent: [Int64: String] = [:]
    }

    let author: String
    private let line: Line
    private let script: Locked<Script>
    private let seed: UInt64
    private let isPlain: Bool
    private let pace: Duration
    private let state = Locked(Progress())

    /// Messages on their way at most; the teacher waits then.
    private static let bound = 64

    init(
        _ author: String, _ connection: NATSConnection, address: String, seed: UInt64, isPlain: Bool, pace: Duration
    ) throws {
        self.author = author
        self.seed = seed
        self.isPlain = isPlain
        self.pace = pace
        line = Line(connection: connection, subject: "\(address).in.\(author)")
        script = Locked(Script(seed: seed, isPlain: isPlain))
        _ = try connection.subscribe("\(address).feedback.\(author)") { [state] message in
            guard let word = Word(message.copyPayload()) else { return }
            state.withLock { _ = $0.words.insert(word) }
        }
    }

    var progress: Progress { state.withLock { $0 } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Writes until `stop()`, and until everything that was written is acknowledged.
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
                    // The first message begins the count.
                    if step.number == 1 || isPlain {
                        if step.number == 1 {
                            try await send(text, id)
                        } else {
                            group.addTask { try await self.send(text, id) }
                        }
                    } else {
                        let fate = Line.fate(&random)
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
                try await Task.sleep(for: isPlain ? pace : pace * Double.random(in: 0..<2, using: &random))
            }
            try await group.waitForAll()
        }
    }

    private func send(_ text: String, _ id: String) async throws {
        try await line.send(text, id: id) { state.withLock { $0.refusals += 1 } }
        state.withLock { $0.acknowledged += 1 }
    }

    /// Says again what the service may have answered while nobody heard it.
    func ask(again number: Int64) async throws {
        guard let text = progress.sent[number] else { return }
        try await line.send(text, id: UUID().uuidString)
    }
}

extension Pen.Word {
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
