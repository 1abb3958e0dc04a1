import StrokeWire
import Testing

@testable import Whiteboard

/// A daemon that dies at some moment, and what another needs to go on from there.
struct Restart {
    private let checkpoint: [UInt8]
    private let checkpointed: Int
    private var cursors: [CohortName: CohortCursor] = [:]
    private var resumed = 0
    private var applied = 0
    private var told = 0
    private var shown = 0
    private var died: Instant

    /// The room's last checkpoint.
    init(checkpoint probe: RoomProbe) {
        checkpoint = probe.room.checkpoint().encoded()
        checkpointed = probe.inputs.count
        died = probe.logTime
    }

    /// The cursors last saved.
    mutating func note(_ probe: RoomProbe) {
        cursors = probe.room.cursors
    }

    /// Ends the daemon. The room that lives on loses its clocks, as a restarted one does.
    mutating func die(_ probe: inout RoomProbe) {
        probe.take(.clocksLost)
        died = probe.logTime
        resumed = probe.inputs.count
        (applied, told, shown) = (probe.applied.count, probe.told.count, probe.shown.count)
    }

    /// Another daemon with another clock restores the room, applies the tail of the log, restores the cursors, and gets
    /// what `probe` got from then on.
    func restored(for probe: RoomProbe, logAhead: Duration) throws -> RoomProbe {
        let now = died + (.zero - logAhead)
        let room = try Room(
            restoring: checkpoint, configuration: probe.room.configuration, at: now, logClockAhead: logAhead)
        var restored = RoomProbe(room, at: now, logAhead: logAhead)
        restored.decisionsReturn = []
        for (at, input) in probe.inputs[checkpointed..<resumed] {
            switch input {
            case .message, .record: restored.recover(input, loggedAt: at)
            case .sample, .output, .clocksLost: break
            }
        }
        restored.restoreCursors(cursors)
        for (at, input) in probe.inputs[resumed...] {
            restored.wait(max(.zero, at - restored.logTime))
            restored.take(input)
        }
        restored.wait(max(.zero, probe.logTime - restored.logTime))
        return restored
    }

    /// Expects both rooms to have done the same since the death, except operations released again.
    func expectSame(_ restored: RoomProbe, _ probe: RoomProbe, _ seed: UInt64) {
        #expect(restored.applied.map(\.wholeSummary) == probe.applied[applied...].map(\.wholeSummary), "seed \(seed)")
        #expect(answers(restored.told[...]) == answers(probe.told[told...]), "seed \(seed)")
        #expect(restored.room.head.digest == probe.room.head.digest, "seed \(seed)")
        #expect(restored.room.cursors == probe.room.cursors, "seed \(seed)")
        for cohort in probe.room.cursors.keys {
            expectSameReleases(restored, probe, cohort, seed)
            expectSameJoin(restored.room, probe.room, cohort, seed)
        }
    }

    private func answers(_ told: ArraySlice<RoomProbe.Told>) -> [String] {
        told.filter { !$0.isReminder }.map { "\($0.author) \($0.feedback.summary)" }
    }

    private func expectSameReleases(_ restored: RoomProbe, _ probe: RoomProbe, _ cohort: CohortName, _ seed: UInt64) {
        func releases(_ shown: ArraySlice<RoomProbe.Shown>, _ ahead: Duration) -> [String] {
            shown.filter { $0.cohort == cohort && $0.operation.index > released }.map {
                "\($0.operation.wholeSummary) \($0.isLate) \($0.at + ahead)"
            }
        }
        let released = probe.shown[..<shown].last { $0.cohort == cohort }?.operation.index ?? 0
        #expect(
            releases(restored.shown[...], restored.logAhead) == releases(probe.shown[shown...], probe.logAhead),
            "seed \(seed)")
        let again = restored.shown.filter { $0.cohort == cohort }
        let start = cursors[cohort]?.released ?? again.first.map { $0.operation.index - 1 } ?? released
        #expect(again.map(\.operation.index) == Array(start..<(start + UInt64(again.count))).map { $0 + 1 })
        for release in again where release.operation.index <= released {
            let before = probe.shown.first { $0.cohort == cohort && $0.operation.index == release.operation.index }
            #expect(before?.operation.wholeSummary == release.operation.wholeSummary, "seed \(seed)")
        }
    }

    private func expectSameJoin(_ restored: Room, _ room: Room, _ cohort: CohortName, _ seed: UInt64) {
        let requests = [nil, room.cursors[cohort]?.released, UInt64.max].map {
            JoinRequest(incarnation: "life", have: $0)
        }
        for request in requests {
            let reply = restored.catchUp(request, cohort: cohort)
            let expected = room.catchUp(request, cohort: cohort)
            #expect(reply?.summary == expected?.summary, "seed \(seed)")
        }
    }
}

extension Whiteboard.Operation {
    /// All fields that are sent.
    fileprivate var wholeSummary: String {
        "\(summary) \(time ?? -1) \(digest) \(String(decoding: restoredMessage, as: UTF8.self)) \(isJoined)"
    }
}

extension CatchUp {
    fileprivate var summary: String {
        switch content {
        case .tail(let operations): "\(incarnation) \(index) \(digest) \(operations.map(\.wholeSummary))"
        case .board(let board):
            """
            \(incarnation) \(index) \(digest) \(board.size) \(board.visible.map(\.message.bytes)) \
            \(board.undone.map(\.index)) \(board.undoableClears.map(\.clear.index)) \(board.weight) \(board.lastClear)
            """
        }
    }
}
