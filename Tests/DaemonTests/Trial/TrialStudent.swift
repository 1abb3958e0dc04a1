import Foundation
import Locking
import NATSClient
import TestSupport

/// A student over NATS, written from the protocol's pages alone: subscribes, joins, keeps what comes too early, drops repeats,
/// asks for what is missing.
final class TrialStudent: Sendable {
    fileprivate struct State {
        var record = TrialRecord()
        /// Operations beyond the next one, or before the first board.
        var waiting: [UInt64: Sighting] = [:]
        var isJoining = false
        var isStopped = false
        var joins = 0
    }

    let address: String
    let cohort: String
    let video: Video
    private let connection: NATSConnection
    private let state = Locked(State())

    /// How long a missing operation is waited for.
    private static let patience = Duration.milliseconds(250)

    init(_ connection: NATSConnection, address: String, cohort: String, video: Video) throws {
        self.address = address
        self.cohort = cohort
        self.video = video
        self.connection = connection
        _ = try connection.subscribe("\(address).out.\(cohort)") { [weak self] message in
            self?.receive(Sighting(message), of: message.header("Ink-Room") ?? "")
        }
        _ = try connection.subscribe("\(address).mark.\(cohort)") { [weak self] message in
            self?.mark(message.copyPayload())
        }
    }

    var record: TrialRecord { state.withLock { $0.record } }
    var index: UInt64 { state.withLock { $0.record.index } }
    var joins: Int { state.withLock { $0.joins } }

    /// Takes no more, and asks for nothing.
    func stop() { state.withLock { $0.isStopped = true } }

    private func receive(_ sighting: Sighting, of room: String) {
        let isBehind = state.withLock { state in
            guard !state.isStopped else { return false }
            state.record.rooms.insert(room)
            guard state.record.hasBoard else {
                state.waiting[sighting.index] = sighting
                return false
            }
            if sighting.index <= state.record.index {
                state.record.repeats.append(sighting)
            } else if let other = state.waiting.updateValue(sighting, forKey: sighting.index) {
                state.record.repeats.append(other)
            }
            state.drain(room)
            return !state.waiting.isEmpty
        }
        if isBehind { join(after: Self.patience) }
    }

    private struct Mark: Decodable {
        let room: String
        let index: UInt64
        let digest: String
    }

    private func mark(_ bytes: [UInt8]) {
        guard let mark = try? JSONDecoder().decode(Mark.self, from: Data(bytes)) else {
            return state.withLock { $0.record.faults.append("a mark that cannot be read") }
        }
        let isBehind = state.withLock { state in
            guard !state.isStopped else { return false }
            state.record.rooms.insert(mark.room)
            if let other = state.record.marks.updateValue(mark.digest, forKey: mark.index), other != mark.digest {
                state.record.faults.append("marks of \(mark.index) with digests \(other) and \(mark.digest)")
            }
            return state.record.hasBoard && mark.index > state.record.index
        }
        if isBehind { join(after: Self.patience) }
    }

    /// Joins: at the beginning, after a reconnect, and where something is missing still after some time.
    func join(after wait: Duration = .zero) {
        let isFirst = state.withLock { state in
            defer { state.isJoining = true }
            return !state.isJoining && !state.isStopped
        }
        guard isFirst else { return }
        Task { [weak self] in
            try? await Task.sleep(for: wait)
            while let self, !self.state.withLock({ $0.isStopped }), await !self.askOnce() {
                try? await Task.sleep(for: .milliseconds(Int.random(in: 200...800)))
            }
            self?.state.withLock { $0.isJoining = false }
        }
    }

    /// - Returns: whether there is an answer.
    private func askOnce() async -> Bool {
        let request = state.withLock { state in
            let record = state.record
            return record.room.isEmpty ? "{}" : #"{"room":"\#(record.room)","have":\#(record.index)}"#
        }
        let reply = try? await connection.requestParts(
            Array(request.utf8), to: "\(address).join.\(cohort)", timeout: .seconds(3))
        guard let bytes = reply?.payload else { return false }
        let now = ContinuousClock.now
        guard let board = try? TrialBoard(bytes) else {
            let text = String(decoding: bytes, as: UTF8.self)
            // Such as not-ready.
            if !text.contains(#""error""#) {
                state.withLock { $0.record.faults.append("a reply that cannot be read: \(text.prefix(200))") }
            }
            return false
        }
        state.withLock { state in
            state.joins += 1
            state.record.take(board, at: now)
            state.drain(board.room)
        }
        return true
    }
}

extension TrialStudent: CustomStringConvertible {
    var description: String {
        let (record, waiting, isJoining) = state.withLock { ($0.record, $0.waiting.keys.sorted(), $0.isJoining) }
        return """
            \(cohort), at \(record.index), marks up to \(record.marks.keys.max() ?? 0), \(waiting) waiting\
            \(isJoining ? ", joining" : "")
            """
    }
}

extension TrialStudent.State {
    /// Takes what is next, and drops what the record has.
    fileprivate mutating func drain(_ room: String) {
        if record.room.isEmpty { record.room = room }
        while let next = waiting.removeValue(forKey: record.index + 1) { record.append(next) }
        for (index, sighting) in waiting where index <= record.index {
            record.repeats.append(sighting)
            waiting[index] = nil
        }
    }
}
