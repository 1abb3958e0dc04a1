import Journal
import Locking
import Logging
import NATSClient
import StrokeWire

/// The revocations of tokens in a daemon: takes new ones, and tells gateways.
///
/// With a journal all daemons have the same list, that of ``RevocationStore``; each follows it, answers requests for it on
/// `<root>.revocations`, and publishes on `<root>.revoked` what comes to it, so that gateways know within a moment also
/// where the daemon that took it has ended. Without a journal the list is in this process alone, and lost with it.
/// Bounded by ``RevocationTable/limit``. Safe from any task.
final class RevocationRegister: Sendable {
    /// Why a revocation is not taken.
    enum Failure: Error, Equatable {
        /// The list has not been read yet, or cannot be written.
        case notReady(String)
        /// There are as many as may be.
        case full
    }

    private struct State {
        var table = RevocationTable()
        /// The name of the list; nil until it has been read.
        var list: String?
        /// Those that are being stored, and are not here yet.
        var pending: Set<Revocation.Target> = []

        /// Counts one that is to be stored.
        /// - Returns: false where there are as many as may be.
        mutating func begin(_ target: Revocation.Target) -> Bool {
            if table[target] != nil || pending.contains(target) { return true }
            guard table.count + pending.count < RevocationTable.limit else { return false }
            pending.insert(target)
            return true
        }
    }

    private let root: String
    private let connection: NATSConnection
    /// Nil without a journal.
    private let store: RevocationStore?
    private let logger: Logger
    private let state = Locked(State())

    /// Members of this group answer requests, one each.
    private static let queue = "revocations"
    /// How long a revocation waits for the list, which a daemon reads when it starts.
    private static let readingTime: Duration = .seconds(3)
    private static let cleaningInterval: Duration = .seconds(60)
    /// In seconds.
    private static let clockMargin: Int64 = 3600

    init(root: String, connection: NATSConnection, store: RevocationStore?, logger: Logger) {
        self.root = root
        self.connection = connection
        self.store = store
        self.logger = logger
        if store == nil { state.withLock { $0.list = String(UInt64.random(in: .min ... .max), radix: 36) } }
    }

    /// Answers requests for the list.
    func listen() throws(NATSError) {
        _ = try connection.subscribe("\(root).revocations", queue: Self.queue) { [self] message in
            guard let reply = message.reply, reply.hasPrefix("_INBOX.") else { return }
            try? connection.publish(answer(message.copyPayload()), to: reply)
        }
    }

    private func answer(_ body: [UInt8]) -> [UInt8] {
        guard let request = try? RevocationRequest(decoding: body) else {
            return RequestError(.badRequest, "The request names no place in the list of revocations.").encoded()
        }
        return state.withLock { state in
            guard let list = state.list else {
                return RequestError(.notReady, "The service has not read the list of revocations yet.").encoded()
            }
            return state.table.page(
                after: request.list == list ? request.after : 0, of: list, bytes: connection.maxBody
            ).encoded()
        }
    }

    /// Takes a revocation, together with what is known about the same tokens; returns when it holds: with a journal, when it
    /// is stored.
    func add(_ revocation: Revocation) async throws(Failure) {
        await waitForList()
        let whole = try state.withLock { state throws(Failure) -> Revocation? in
            guard state.list != nil else { throw .notReady("The list of revocations has not been read yet.") }
            let known = state.table[revocation.target]
            let whole = known?.union(revocation) ?? revocation
            guard whole != known else { return nil }
            guard state.begin(revocation.target) else { throw .full }
            return whole
        }
        guard let revocation = whole else { return }
        guard let store else { return take(revocation, at: nil) }
        do throws(JetStreamError) {
            try await store.save(revocation)
        } catch {
            state.withLock { _ = $0.pending.remove(revocation.target) }
            throw error.isFull ? .full : .notReady("The journal does not take it: \(error).")
        }
    }

    private func waitForList() async {
        let deadline = ContinuousClock.now + Self.readingTime
        while state.withLock({ $0.list == nil }), ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Reads the list and follows it, and removes what has ended, until cancelled.
    func run() async {
        guard let store else { return await clean() }
        let cleaning = Task { await clean() }
        defer { cleaning.cancel() }
        while !Task.isCancelled {
            guard let list = await provision(store) else { return }
            // Of a stream that was replaced, or has lost its end, what is missing is stored again.
            let before = state.withLock { state in
                defer { (state.table, state.list, state.pending) = (RevocationTable(), nil, []) }
                return state.table
            }
            await follow(store, list, since: before)
        }
    }

    /// Reads the list from its beginning, and what comes later, until the stream was replaced or the task is cancelled.
    private func follow(_ store: RevocationStore, _ list: String, since before: RevocationTable) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do throws(NATSError) {
            let reader = try store.read { [self] event in
                switch event {
                case .revocation(let revocation, let place): take(revocation, at: place)
                case .caughtUp:
                    state.withLock { $0.list = list }
                    Task { await restore(before) }
                case .rewound:
                    logger.error("the stream of revocations was replaced, or has lost its end; it is read again")
                    end.yield()
                }
            }
            defer { reader.cancel() }
            for await _ in ends { return }
        } catch {
            // A closed connection is that of a daemon that ends.
            if error != .closed { logger.error("revocations cannot be read", metadata: ["error": "\(error)"]) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Stores what a list had that the one after it lacks.
    private func restore(_ before: RevocationTable) async {
        var place: UInt64 = 0
        while before.count > 0 {
            let page = before.page(after: place, of: "")
            for revocation in page.revocations {
                do throws(Failure) {
                    try await add(revocation)
                } catch {
                    logger.error("a revocation is lost", metadata: ["error": "\(error)"])
                }
            }
            guard page.hasMore else { return }
            place = page.through
        }
    }

    private func provision(_ store: RevocationStore) async -> String? {
        var wait: Duration = .milliseconds(200)
        while !Task.isCancelled {
            do throws(JetStreamError) {
                return try await store.provision()
            } catch {
                logger.warning("revocations cannot be kept yet", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(10))
            }
        }
        return nil
    }

    /// - Parameter place: nil for the next one.
    private func take(_ revocation: Revocation, at place: UInt64?) {
        let (news, whole) = state.withLock { state -> (RevocationPage?, Revocation?) in
            let place = place ?? state.table.last + 1
            state.pending.remove(revocation.target)
            state.table.insert(revocation, at: place)
            // Before the whole list is there, nobody has been told of less.
            let news = state.list.map {
                RevocationPage(list: $0, through: place, hasMore: false, revocations: [revocation])
            }
            return (news, state.table[revocation.target])
        }
        if let news { try? connection.publish(news.encoded(), to: "\(root).revoked") }
        // The stream keeps the last one about the same tokens: where two daemons took one each, that may be the lesser.
        guard let store, let whole, whole != revocation else { return }
        Task { [logger] in
            do throws(JetStreamError) {
                try await store.save(whole)
            } catch {
                logger.error("a revocation is stored with less than is known", metadata: ["error": "\(error)"])
            }
        }
    }

    private func clean() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.cleaningInterval)
            // The clocks of gateways, by which tokens end, may be behind.
            let now = WallClock.now() / 1_000_000_000 - Self.clockMargin
            let ended = state.withLock { $0.table.removeExpired(at: now) }
            guard let store, !ended.isEmpty else { continue }
            // What is left is removed by the next daemon that starts.
            try? await store.remove(ended)
        }
    }
}
