import Assets
import Dispatch
import Foundation
import Locking
import NATSClient
import StrokeWire
import Whiteboard

/// Takes files over NATS; see ``AssetUpload``. Runs on the connection's threads, without blocking them, and in tasks.
final class UploadReceiver: Sendable {
    /// Bytes of files that are being uploaded.
    private static let byteLimit = 128 << 20

    private let root: String
    private let partitions: Int
    private let connection: NATSConnection
    /// Nil where the service keeps nothing.
    private let library: AssetLibrary?
    private let metrics: ServerMetrics
    private let taker = String(UInt64.random(in: .min ... .max), radix: 36)
    /// For stored files that come to further rooms.
    private let permits = Permits(64)
    private let uploads = Locked(UploadTable(byteLimit: byteLimit))
    private let isExpiring = Locked(false)
    /// Opens files of one room one after the other, so that rooms take turns at the opener, which has a place for each of these
    /// tasks.
    private let openings = KeyedTaskQueue(count: parallel)

    /// Files that are opened, or wait for that, at a time.
    static let parallel = 16

    init(
        _ configuration: ServerConfiguration, connection: NATSConnection, library: AssetLibrary?, metrics: ServerMetrics
    ) {
        root = configuration.root
        partitions = configuration.partitions
        self.connection = connection
        self.library = library
        self.metrics = metrics
    }

    deinit { openings.stop() }

    func listen() throws(NATSError) {
        _ = try connection.subscribe(AssetUpload.subjects(root: root), queue: AssetUpload.queue) { [self] message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
            begin(subject: message.subject, message.copyPayload(), reply)
        }
        _ = try connection.subscribe(AssetUpload.parts(root: root, taker: taker)) { [self] message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
            let offset = message.header(AssetUpload.offsetHeader).flatMap { Int($0) }
            receive(subject: message.subject, offset ?? -1, message.copyPayload(), reply)
        }
    }

    private func begin(subject: String, _ body: [UInt8], _ reply: String) {
        guard let library else {
            metrics.assetUploads.count(.noJournal)
            return answer(AssetUpload.Refusal(.noJournal), reply)
        }
        // <root>.<partition>.<room>.asset-in
        let tokens = subject.dropFirst(root.count + 1).split(separator: ".")
        guard tokens.count == 3, let room = RoomID(tokens[1]),
            tokens[0] == "\(RoomAddress.partition(of: room, among: partitions))"
        else { return answer(AssetUpload.Refusal(.unknown), reply) }
        let begin = try? JSONDecoder().decode(AssetUpload.Begin.self, from: Data(body))
        if let id = begin?.id { return bring(id, to: room, library, reply) }
        let bytes = begin?.bytes ?? 0
        let name =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        let refusal = uploads.withLock {
            $0.begin(name, room, bytes: bytes, password: begin?.password, at: MonotonicClock.now())
        }
        if let refusal {
            metrics.assetUploads.count(AssetUploadOutcome(refusal))
            return answer(AssetUpload.Refusal(refusal), reply)
        }
        expireLater()
        let part = min(AssetUpload.partBytes, connection.maxBody)
        answer(AssetUpload.Ticket(to: "\(root).uploads.\(taker).\(name)", part: part), reply)
    }

    /// Ends uploads whose clients have gone, also where no other one begins; repeated until there is none.
    private func expireLater() {
        guard !isExpiring.exchange(true) else { return }
        let pause = UploadTable.partTimeout / .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            isExpiring.withLock { $0 = false }
            let isEmpty = uploads.withLock { uploads in
                uploads.expire(at: MonotonicClock.now())
                return uploads.isEmpty
            }
            if !isEmpty { expireLater() }
        }
    }

    /// A file that is stored comes to a further room.
    private func bring(_ id: String, to room: RoomID, _ library: AssetLibrary, _ reply: String) {
        guard let id = AssetID(hexadecimal: id) else { return answer(AssetUpload.Refusal(.unknown), reply) }
        guard permits.acquire() else { return answer(AssetUpload.Refusal(.busy), reply) }
        Task { [self] in
            defer { permits.release() }
            do throws(AssetError) {
                answer(AssetUpload.Summary(try await library.note(id, in: room)), reply)
            } catch {
                answer(AssetUpload.Refusal(error), reply)
            }
        }
    }

    private func receive(subject: String, _ offset: Int, _ part: [UInt8], _ reply: String) {
        guard let library, let name = subject.split(separator: ".").last.map(String.init) else { return }
        switch uploads.withLock({ $0.receive(name, offset: offset, part, at: MonotonicClock.now()) }) {
        case .taken: answer([String: String](), reply)
        case .refused(let error):
            // A client that gives up, maybe because it was refused, brings no file.
            if offset >= 0 { metrics.assetUploads.count(AssetUploadOutcome(error)) }
            answer(AssetUpload.Refusal(error), reply)
        case .whole(let bytes, let password, let room):
            openings.run(for: room) { [self] in
                do throws(AssetError) {
                    let manifest = try await library.add(bytes, password: password, to: room)
                    answer(AssetUpload.Summary(manifest), reply)
                } catch {
                    answer(AssetUpload.Refusal(error), reply)
                }
                uploads.withLock { $0.end(name) }
            }
        }
    }

    private func answer(_ body: some Encodable, _ reply: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers always encode; who gets no answer asks again.
        guard let bytes = try? Array(encoder.encode(body)) else { return }
        try? connection.publish(bytes, to: reply)
    }
}

/// What became of a file that was brought. The raw values are those of the metric's label: the codes of the refusals.
enum AssetUploadOutcome: String, CaseIterable {
    case stored, unreadable
    case needsPassword = "needs-password"
    case tooLarge = "too-large"
    case full = "assets-full"
    case noJournal = "no-journal"
    case noSandbox = "no-sandbox"
    case notReady = "not-ready"

    init(_ error: AssetError) {
        // An upload is of no stored asset.
        self = Self(rawValue: error.code) ?? .unreadable
    }
}
