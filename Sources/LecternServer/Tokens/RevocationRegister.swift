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
///
/// A stream that was replaced, or has lost its end, lacks revocations that were acknowledged: what this daemon knows of is
/// stored again until it comes from the stream. Bounded by ``RevocationTable/limit``, of which links of students have half. Safe
/// from any task.
final class RevocationRegister: Sendable {
    /// Why a revocation is not taken.
    enum Failure: Error, Equatable {
        /// The list has not been read yet, or cannot be written.
        case notReady(String)
        /// There are as many as may be.
        case full
    }

    private struct State {
        /// Revocations at most.
        let limit: Int
        var table = RevocationTable()
        /// The name of the list; nil until it has been read.
        var list: String?
        /// Those that are being stored, and are not here yet.
        var pending: Set<Revocation.Target> = []
        /// Those that the stream had, or has acknowledged, and that have not come from it: it may have lost them.
        var missing: [Revocation.Target: Revocation] = [:]

        /// A list is read from its beginning.
        /// - Returns: how many are lost, because more are missing than a list may have.
        mutating func restart() -> Int {
            let lost = table.revocations.count { !noteMissing($0) }
            (table, list, pending) = (RevocationTable(), nil, [])
            return lost
        }

        /// - Returns: false where as many are missing as may be.
        @discardableResult
        mutating func noteMissing(_ revocation: Revocation) -> Bool {
            let target = revocation.target
            guard missing[target] != nil || missing.count < limit else { return false }
            missing[target] = missing[target]?.union(revocation) ?? revocation
            return true
        }

        /// The stream has acknowledged one, which may have come from it already.
        mutating func acknowledged(_ revocation: Revocation) {
            if let known = table[revocation.target], known.union(revocation) == known { return }
            noteMissing(revocation)
        }

        /// One has come from the stream, which keeps the last one about the same tokens: where two daemons have stored one each,
        /// that may be the lesser.
        mutating func insert(_ revocation: Revocation, at place: UInt64) {
            let target = revocation.target
            pending.remove(target)
            table.insert(revocation, at: place)
            if let whole = table[target], whole != revocation { noteMissing(whole) }
            if let known = missing[target], revocation.union(known) == revocation { missing[target] = nil }
        }

        /// - Parameter end: in seconds since 1970.
        func hasExpired(at end: Int64) -> Bool {
            let all = table.revocations + missing.values
            return all.contains { $0.expires.map { $0 <= end } ?? false }
        }

        /// Counts one that is to be stored. Those that are missing count, too: when they are stored again there must be place.
        /// - Returns: false where there are as many as may be, or as many of links.
        mutating func begin(_ target: Revocation.Target) -> Bool {
            if table[target] != nil || pending.contains(target) || missing[target] != nil { return true }
            let absent = pending.union(missing.keys).filter { table[$0] == nil }
            guard table.count + absent.count < limit else { return false }
            // Teachers revoke links, of any name: they must leave place for what operators revoke.
            guard !target.isLink || table.linkCount + absent.count(where: \.isLink) < limit / 2 else { return false }
            pending.insert(target)
            return true
        }
    }

    private let root: String
    private let connection: NATSConnection
    /// Nil without a journal.
    private let store: RevocationStore?
    private let logger: Logger
    private let state: Locked<State>

    /// Members of this group answer requests, one each.
    private static let queue = "revocations"
    /// How long a revocation waits for the list, which a daemon reads when it starts.
    private static let readingTime: Duration = .seconds(3)
    private static let cleaningInterval: Duration = .seconds(60)
    /// In seconds.
    private static let clockMargin: Int64 = 3600
    /// Time between two attempts to store what is missing, at first and at last.
    private static let restoringPause: ClosedRange<Duration> = .milliseconds(200) ... .seconds(30)
    /// How long gateways are not told the list of a stream that lacks something: one that starts would take what is missing for
    /// good. Those that know it go by what they know.
    private static let restoringTime: Duration = .seconds(10)

    init(
        root: String, connection: NATSConnection, store: RevocationStore?, limit: Int = RevocationTable.limit,
        logger: Logger
    ) {
        self.root = root
        self.connection = connection
        self.store = store
        self.logger = logger
        state = Locked(State(limit: limit))
        if store == nil { state.withLock { $0.list = String(UInt64.random(in: .min ... .max), radix: 36) } }
    }

    /// Answers requests for the list.
    func listen() throws(NATSError) {
        _ = try connection.subscribe("\(root).revocations", queue: Self.queue) { [self] message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
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
            state.withLock { $0.acknowledged(revocation) }
        } catch {
            state.withLock { _ = $0.pending.remove(revocation.target) }
            throw error.isFull ? .full : .notReady("The journal did not store the revocation: \(error).")
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
            let lost = state.withLock { $0.restart() }
            if lost > 0 { logger.error("revocations are lost", metadata: ["revocations": "\(lost)"]) }
            await follow(store, list)
        }
    }

    /// Reads the list from its beginning, and what comes later, until the stream was replaced or the task is cancelled.
    private func follow(_ store: RevocationStore, _ list: String) async {
        enum Progress {
            case read
            case rewound
        }
        let (events, inlet) = AsyncStream.makeStream(of: Progress.self)
        do throws(NATSError) {
            let reader = try store.read { [self] event in
                switch event {
                case .revocation(let revocation, let place): take(revocation, at: place)
                case .caughtUp:
                    state.withLock { if $0.missing.isEmpty { $0.list = list } }
                    inlet.yield(.read)
                case .rewound:
                    logger.error("the stream of revocations was replaced, or has lost its end; it is read again")
                    inlet.yield(.rewound)
                }
            }
            defer { reader.cancel() }
            var restoring: Task<Void, Never>?
            defer { restoring?.cancel() }
            for await event in events {
                if event == .rewound { return }
                restoring = Task { await restore(to: store, list) }
            }
        } catch {
            // A closed connection is that of a daemon that ends.
            if error != .closed { logger.error("revocations cannot be read", metadata: ["error": "\(error)"]) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Stores what is missing, again and again until it has come from the list; looks for more each second. Has the list told
    /// when nothing is missing any more, or after a while.
    private func restore(to store: RevocationStore, _ list: String) async {
        let began = ContinuousClock.now
        var (pause, before) = (Self.restoringPause.lowerBound, Int.max)
        while !Task.isCancelled {
            var (stored, failure) = (0, JetStreamError?.none)
            for revocation in state.withLock({ Array($0.missing.values) }) where !Task.isCancelled && failure == nil {
                do throws(JetStreamError) {
                    try await store.save(revocation)
                    stored += 1
                } catch {
                    failure = error
                }
                if ContinuousClock.now - began >= Self.restoringTime { tell(list) }
            }
            if stored > 0 { logger.notice("revocations stored again", metadata: ["revocations": "\(stored)"]) }
            if let failure, !Task.isCancelled {
                logger.error("revocations could not be stored again yet", metadata: ["error": "\(failure)"])
            }
            // What was stored comes from the stream meanwhile.
            try? await Task.sleep(for: pause)
            let count = state.withLock { $0.missing.count }
            if count == 0 || ContinuousClock.now - began >= Self.restoringTime { tell(list) }
            if count == 0 {
                pause = .seconds(1)
            } else {
                pause = count < before ? Self.restoringPause.lowerBound : min(pause * 2, Self.restoringPause.upperBound)
            }
            before = count
        }
    }

    /// Gateways are told the list from now on.
    private func tell(_ list: String) {
        state.withLock { if !Task.isCancelled, $0.list == nil { $0.list = list } }
    }

    private func provision(_ store: RevocationStore) async -> String? {
        await retrying(pauses: .milliseconds(200) ... .seconds(10)) { () async throws(JetStreamError) in
            try await store.provision()
        } onFailure: {
            logger.warning("revocations cannot be kept yet", metadata: ["error": "\($0)"])
        }
    }

    /// - Parameter place: nil for the next one.
    private func take(_ revocation: Revocation, at place: UInt64?) {
        let news = state.withLock { state -> RevocationPage? in
            let place = place ?? state.table.last + 1
            state.insert(revocation, at: place)
            // Before the whole list is there, nobody has been told of less.
            return state.list.map {
                RevocationPage(list: $0, through: place, hasMore: false, revocations: [revocation])
            }
        }
        if let news { try? connection.publish(news.encoded(), to: "\(root).revoked") }
    }

    private func clean() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.cleaningInterval)
            await removeExpired(at: WallClock.now())
        }
    }

    /// Removes those whose tokens have ended by this process's clock and, with a journal, by that of its server, too: a clock that
    /// is ahead must not make revoked tokens valid again.
    /// - Parameter now: by this process's clock, in nanoseconds since 1970.
    func removeExpired(at now: Int64) async {
        var end = Self.end(at: now)
        if let store {
            let isDue = state.withLock { $0.hasExpired(at: end) }
            guard isDue, let serverTime = try? await store.serverTime() else { return }
            end = min(end, Self.end(at: serverTime))
        }
        let ended = state.withLock { state in
            state.missing = state.missing.filter { $0.value.expires.map { $0 > end } ?? true }
            return state.table.removeExpired(at: end)
        }
        guard let store, !ended.isEmpty else { return }
        // What is left is removed by the next daemon that starts.
        try? await store.remove(ended)
    }

    /// Tokens that expire until then have ended, in seconds since 1970: the clocks of gateways, by which they end, may be behind.
    private static func end(at now: Int64) -> Int64 { now / 1_000_000_000 - clockMargin }
}
