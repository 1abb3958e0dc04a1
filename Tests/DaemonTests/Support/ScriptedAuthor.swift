import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// An author whose messages a test sends one by one, and the feedback on them. In a cluster it needs the daemon's
/// server: feedback that comes to another server before the subscription is known there is lost.
final class ScriptedAuthor: Sendable {
    let address: RoomAddress
    private let author: AuthorID
    private let connection: NATSConnection
    private let isStored: Bool
    private let told = Recorder<Feedback>()

    /// - Parameter isStored: whether the service has a journal, which acknowledges each message.
    init(_ name: String, room: String, on connection: NATSConnection, isStored: Bool = true) throws {
        guard let author = AuthorID(name), let room = RoomID(room) else {
            throw Unexpected("bad name: \(name), \(room)")
        }
        self.author = author
        self.connection = connection
        self.isStored = isStored
        address = RoomAddress(root: "ink", room: room, partitions: 1)
        try connection.subscribe(address.subject(.feedback(author))) { [told] message in
            guard let feedback = try? Feedback(decoding: message.copyPayload()) else { return }
            told.append(feedback)
        }
    }

    /// Publishes a message, and waits until the journal has it.
    func send(_ text: String) async throws {
        guard isStored else { return try connection.publish(Array(text.utf8), to: address.subject(.input(author))) }
        let reply = try await connection.request(Array(text.utf8), to: address.subject(.input(author)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains(#""seq""#), !answer.contains(#""error""#) else {
            throw Unexpected("not acknowledged: \(answer)")
        }
    }

    /// Waits until a checkpoint holds what the author has sent through a number.
    func waitUntilCovered(through number: Int64) async throws {
        try await eventually(
            "a checkpoint holds \(number)",
            is: told.values.contains { if case .covered(let covered, _) = $0 { covered >= number } else { false } })
    }

    /// Publishes a message and waits for the feedback on it.
    func send(_ text: String, expecting feedback: (Feedback) -> Bool) async throws {
        let before = told.values.count
        try await send(text)
        try await eventually("an answer to \(text.prefix(60))", is: told.values[before...].contains(where: feedback))
    }

    /// Publishes an operation and waits until it is applied at this index.
    func send(_ text: String, appliedAt index: UInt64) async throws {
        try await send(text) { if case .applied(_, index) = $0 { true } else { false } }
    }

    /// Publishes a message and waits until it is rejected.
    func send(_ text: String, rejectedAs code: RejectionCode) async throws {
        try await send(text) { if case .rejected(_, _, let rejection) = $0 { rejection.code == code } else { false } }
    }

    /// Moves the clock of a cohort, which then stands still.
    func clock(_ media: Int, _ cohort: String = "main", _ more: String = "") throws {
        guard let cohort = CohortName(cohort) else { throw Unexpected("not a cohort: \(cohort)") }
        try connection.publish(Array(#"{"m":\#(media),"r":0\#(more)}"#.utf8), to: address.subject(.clock(cohort)))
    }
}

/// A message of the journal, read back from JetStream.
struct StoredRecord: Sendable {
    let sequence: UInt64
    /// When JetStream stored it, in nanoseconds.
    let time: Int64
    let subject: String
    let payload: [UInt8]
}

/// The part of the reply to `$JS.API.STREAM.INFO` that tests use.
struct StreamState: Sendable, Decodable {
    struct State: Sendable, Decodable {
        let messages: Int
    }
    struct Cluster: Sendable, Decodable {
        struct Replica: Sendable, Decodable {
            let current: Bool?
        }
        let leader: String?
        let replicas: [Replica]?
    }
    struct Configuration: Sendable, Decodable {
        let replicas: Int

        private enum CodingKeys: String, CodingKey {
            case replicas = "num_replicas"
        }
    }
    let config: Configuration
    let state: State
    let cluster: Cluster?
    let created: String
}

extension NATSConnection {
    func streamState(_ stream: String) async throws -> StreamState {
        let reply = try await request(Array("{}".utf8), to: "$JS.API.STREAM.INFO.\(stream)", timeout: .seconds(5))
        return try JSONDecoder().decode(StreamState.self, from: Data(reply.payload))
    }

    /// All messages of a stream, read by a plain consumer, which reads the copy of one of the servers.
    /// - Parameter isPartEnough: whether to return what has come when the time is over; else that is an error.
    func readBack(
        _ stream: String, within limit: Duration = .hangLimit, isPartEnough: Bool = false
    ) async throws -> [StoredRecord] {
        let count = try await streamState(stream).state.messages
        guard count > 0 else { return [] }
        let records = Recorder<StoredRecord>()
        let subject = "readback.\(UUID().uuidString)"
        let subscription = try subscribe(subject) { message in
            // $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time>.…
            let tokens = (message.reply ?? "").split(separator: ".")
            guard tokens.count > 7, let sequence = UInt64(tokens[5]), let time = Int64(tokens[7]) else { return }
            records.append(
                StoredRecord(sequence: sequence, time: time, subject: message.subject, payload: message.copyPayload()))
        }
        defer { subscription.unsubscribe() }
        try await flush()
        let body = """
            {"stream_name":"\(stream)","config":{"deliver_subject":"\(subject)","deliver_policy":"all",\
            "ack_policy":"none","replay_policy":"instant"}}
            """
        let reply = try await request(Array(body.utf8), to: "$JS.API.CONSUMER.CREATE.\(stream)", timeout: .seconds(5))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard !answer.contains(#""error""#) else { throw Unexpected(answer) }
        do {
            return try await records.values(count, within: limit)
        } catch {
            guard isPartEnough else { throw error }
            return records.values
        }
    }
}

enum MetricNames {
    /// Those that stand between quotation marks in the sources; lectern-probe has some of its own.
    static func inSources() throws -> Set<String> {
        let folder = PackageRoot.path(to: "Sources")
        var names: Set<String> = []
        for case let file as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where file.hasSuffix(".swift") && !file.hasPrefix("lectern-probe/") && !file.hasPrefix("Web") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            names.formUnion(text.matches(of: /"(lectern_[a-z_]+)"/).map { String($0.1) })
        }
        return names
    }
}

/// The text of `/metrics`, read by the rules of Prometheus' text format 0.0.4: a metric's lines stand together, HELP
/// and TYPE before its samples, each at most once.
struct Exposition {
    struct Family {
        var help = ""
        var type = ""
        /// Values by name and labels, as they are written.
        var samples: [String: Double] = [:]
    }

    private(set) var families: [String: Family] = [:]

    /// - Throws: the first line that breaks a rule.
    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Unexpected("the last line does not end") }
        var current = ""
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            switch (words.first, words.dropFirst().first) {
            case ("#", "HELP"):
                guard words.count == 4, families[words[2]] == nil else { throw Unexpected("HELP again: \(line)") }
                current = words[2]
                families[current] = Family(help: words[3])
            case ("#", "TYPE"):
                guard words.count == 4, words[2] == current || families[words[2]] == nil,
                    families[words[2]]?.type ?? "" == ""
                else { throw Unexpected("TYPE again: \(line)") }
                current = words[2]
                families[current, default: Family()].type = words[3]
            default: try add(line, to: current)
            }
        }
    }

    private mutating func add(_ line: Substring, to name: String) throws {
        guard let end = line.lastIndex(of: " "), let value = Double(line[line.index(after: end)...]),
            var family = families[name]
        else { throw Unexpected("no sample: \(line)") }
        let series = String(line[..<end])
        let own = series.prefix { $0 != "{" }
        let names = family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
        guard names.contains(String(own)) else { throw Unexpected("a sample of \(own) among those of \(name)") }
        guard family.samples.updateValue(value, forKey: series) == nil else { throw Unexpected("again: \(series)") }
        families[name] = family
    }

    /// The value of a series, with its labels as they are written; nil where there is none.
    subscript(_ series: String) -> Double? {
        let name = String(series.prefix { $0 != "{" })
        if let family = families[name] { return family.samples[series] }
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            return families[String(name.dropLast(suffix.count))]?.samples[series]
        }
        return nil
    }
}
