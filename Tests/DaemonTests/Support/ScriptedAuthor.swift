import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// An author whose messages a test sends one by one, and what the service tells it.
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

    /// Publishes a message and waits for the feedback on it.
    func send(_ text: String, expecting feedback: (Feedback) -> Bool) async throws {
        let before = told.values.count
        try await send(text)
        try await eventually("an answer to \(text.prefix(60))") {
            told.values[before...].contains(where: feedback) ? () : nil
        }
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
