import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// The simulation's model of a stream, compared with a real one.
@Suite struct StreamModelTests {
    @Test(arguments: [nil, 3]) func `It gives the answers of a server in random rounds`(kept: Int?) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { _, nats in
            for var random in TestSeed.generators(4) {
                let pair = StreamPair(name: "S\(random.seed)", kept: kept, nats)
                try await pair.provision()
                for round in 0..<60 {
                    let what = try await pair.change(&random)
                    try await pair.compare(&random, "seed \(random.seed), round \(round): \(what)")
                }
            }
        }
    }
}

/// A stream with three subjects, and its model.
private final class StreamPair {
    private let name: String
    private let kept: Int?
    private let nats: NATSConnection
    private let jetStream: JetStream
    private var model: ModelStream<[UInt8]>

    init(name: String, kept: Int?, _ nats: NATSConnection) {
        (self.name, self.kept, self.nats, jetStream) = (name, kept, nats, JetStream(nats))
        model = ModelStream(kept: kept)
    }

    private var subjects: [String] { ["a", "b", "c"].map { "\(name).\($0)" } }
    /// The sequences of all messages.
    private var sequences: [UInt64] { subjects.flatMap { model.messages(of: $0).map(\.sequence) }.sorted() }

    func provision() async throws {
        var stream = StreamConfiguration(name: name, subjects: ["\(name).*"])
        if let kept { stream.maxMessagesPerSubject = Int64(kept) }
        // The model's clock stands still.
        stream.duplicateWindow = .seconds(3600)
        _ = try await jetStream.provision(stream)
    }

    /// - Returns: what is changed.
    func change(_ random: inout SeededGenerator) async throws -> String {
        let subject = random.pick(subjects)
        switch random.int(0...9) {
        case 0: return try await purge(before: end(&random), of: nil)
        case 1: return try await purge(before: end(&random), of: subject)
        case 2:
            // 2.9 forgets the older ones when the newest message of a subject is deleted.
            let old = subjects.flatMap { model.messages(of: $0).dropLast().map(\.sequence) }
            guard !old.isEmpty else { return "nothing" }
            let sequence = random.pick(old)
            model.delete(sequence)
            try await jetStream.deleteMessage(name, sequence)
            return "deleted \(sequence)"
        default: return try await append(to: subject, &random)
        }
    }

    /// A message that is there, or the place behind all of them: see `JetStreamJournal.trim`.
    private func end(_ random: inout SeededGenerator) -> UInt64 { random.pick(sequences + [model.last + 1]) }

    private func purge(before sequence: UInt64, of subject: String?) async throws -> String {
        model.purge(before: sequence, of: subject)
        if let subject {
            // The server takes 1 for no sequence, and removes everything.
            guard sequence > 1 else { return "nothing" }
            let request = #"{"seq":\#(sequence),"filter":"\#(subject)"}"#
            _ = try await nats.request(Array(request.utf8), to: "$JS.API.STREAM.PURGE.\(name)")
        } else {
            try await jetStream.purge(name, before: sequence)
        }
        return "purged before \(sequence) of \(subject ?? "all")"
    }

    private func append(to subject: String, _ random: inout SeededGenerator) async throws -> String {
        let body = [UInt8(random.int(0...255))]
        let id = random.chance(3, in: 10) ? "id-\(random.int(0...9))" : nil
        var expected: UInt64?
        if random.chance(4, in: 10) {
            let last = model.newest(of: subject)?.sequence ?? 0
            expected = random.chance(7, in: 10) ? last : UInt64(random.int(0...20))
        }
        var headers: NATSHeaders = [:]
        if let id { headers.append("Nats-Msg-Id", id) }
        if let expected { headers.append("Nats-Expected-Last-Subject-Sequence", "\(expected)") }
        let outcome = model.append(body, to: subject, id: id, after: expected)
        let what = "appended to \(subject), id \(id ?? "none"), after \(expected.map(String.init) ?? "any"): \(outcome)"
        #expect(try await publish(body, to: subject, headers) == outcome, "\(what)")
        return what
    }

    private func publish(
        _ body: [UInt8], to subject: String, _ headers: NATSHeaders
    ) async throws -> ModelStream<[UInt8]>.Outcome {
        do throws(JetStreamError) {
            let stored = try await jetStream.publish(body, to: subject, headers: headers)
            return stored.isDuplicate ? .repeated(stored.sequence) : .stored(stored.sequence)
        } catch {
            guard error.isOutOfDate else { throw error }
            return .outOfDate
        }
    }

    func compare(_ random: inout SeededGenerator, _ what: String) async throws {
        let info = try await jetStream.streamInfo(name)
        #expect(info.lastSequence == model.last, "\(what)")
        #expect(info.messages == UInt64(sequences.count), "\(what)")
        for subject in subjects {
            let newest = try await jetStream.lastMessage(name, subject: subject)
            #expect(newest?.sequence == model.newest(of: subject)?.sequence, "\(what)")
            #expect(newest?.payload == model.newest(of: subject)?.body, "\(what)")
            let from = UInt64(random.int(1...Int(model.last) + 1))
            let next = try await jetStream.nextMessage(name, subject: subject, from: from)
            #expect(next?.sequence == model.messages(of: subject, from: from).first?.sequence, "\(what), from \(from)")
        }
        let place = UInt64(random.int(1...Int(model.last) + 1))
        #expect(try await jetStream.message(name, place)?.payload == model.message(place)?.body, "\(what), \(place)")
    }
}
