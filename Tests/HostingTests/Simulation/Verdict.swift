import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// What must hold when everything is at rest: the product compared with the models.
struct Verdict {
    let cluster: Cluster
    let students: [Student]
    let rooms: [RoomID]

    private var ledger: Ledger { cluster.ledger }

    func check() {
        for room in rooms {
            let log = cluster.log(of: room)
            var plain = ModelRoom(
                cluster.plan.history, isLimited: cluster.plan.storedRooms < cluster.plan.rooms.count,
                namesSessions: cluster.plan.namesSessions)
            for entry in log.entries where entry.record.room == room && !log.isLost(entry.record.sequence) {
                plain.take(entry, prefix: log.prefix)
            }
            for undecided in plain.undecided { report(room, "nothing was decided about \(undecided)") }
            for giveUp in plain.giveUps { checkMoment(giveUp, room) }
            for (number, life) in plain.lives.enumerated() {
                let known = Ledger.Life(room: room, incarnation: life.incarnation)
                checkContents(of: known, life)
                checkTimes(of: known, life, number)
                checkDelays(of: known, life)
                if !life.isClosed { checkEnd(of: known, life) }
            }
            checkTold(room, plain)
            checkStudents(of: room, plain)
        }
        for process in cluster.network.processes where process.isAlive { cluster.wet.checkEnd(of: process) }
    }

    /// Indices are dense, and each has the content that the log gives it.
    private func checkContents(of known: Ledger.Life, _ life: ModelRoom.Life) {
        for expected in life.operations {
            cluster.world.note("\(known.room) \(life.incarnation) \(expected.summary)")
            guard let content = ledger.contents[Ledger.Place(life: known, index: expected.index)] else {
                if !life.isClosed { report(known.room, "\(expected.index) of \(life.incarnation) was never said") }
                continue
            }
            let action: Action =
                switch expected.kind {
                case .draw, .garbage: .draw
                case .undo: .undo
                case .redo: .redo
                case .clear: .clear
                case .turn: .turn
                case .arrange: .arrange
                case .paper: .paper
                case .remove: .remove
                }
            guard content.author == expected.author, content.number == expected.number, content.action == action,
                content.reference == expected.applied.reference, content.page == expected.applied.page,
                content.isLate == expected.applied.isLate, content.digest == expected.applied.digest,
                expected.kind != .draw || ink(content.bytes) == expected.applied.ink
            else {
                report(known.room, "\(expected.index) is \(content), and the log says \(expected)")
                continue
            }
        }
        let beyond = ledger.contents.keys.filter { $0.life == known && $0.index > UInt64(life.operations.count) }
        for place in beyond { report(known.room, "\(place.index) of \(life.incarnation) is not in the log") }
    }

    /// Nothing is given up before it is due, nor much later where no fault delays it.
    private func checkMoment(_ giveUp: ModelRoom.GiveUp, _ room: RoomID) {
        let what = "\(giveUp.author) \(giveUp.number) was given up at \(giveUp.at.nanoseconds / 1_000_000) ms"
        guard let due = giveUp.due else { return report(room, "\(what), and nothing waited for it") }
        guard due <= giveUp.sentAt + Self.clockError else {
            return report(room, "\(what), \((due - giveUp.sentAt) / .milliseconds(1)) ms early")
        }
        // A room that is not in memory is not loaded for that.
        guard cluster.plan.places >= cluster.plan.rooms.count else { return }
        let log = cluster.log(of: room)
        let late = log.freeTime(
            from: max(due, cluster.world.lastTrouble(until: giveUp.at) + Self.recovery), to: giveUp.at)
        if late > Self.decision { report(room, "\(what), \(late / .milliseconds(1)) ms late") }
    }

    /// How well a daemon knows the log's clock.
    private static let clockError = Duration.milliseconds(100)
    /// After the last fault a daemon serves within this time.
    private static let recovery = Duration.seconds(4)
    /// Where nothing holds it up a decision is in the log within this time.
    private static let decision = Duration.milliseconds(500)

    /// The x coordinates of a message's points.
    private func ink(_ bytes: [UInt8]) -> [Int] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\"x\":").dropFirst().compactMap {
            Int($0.prefix { $0.isNumber })
        }
    }

    /// Nothing is released before its time, unless it is late and says so.
    private func checkTimes(of known: Ledger.Life, _ life: ModelRoom.Life, _ number: Int) {
        let gateTimes = life.gateTimes(isProgressive: false)
        let ends = life.gateTimes(isProgressive: true)
        for release in ledger.releases where release.following.life == known {
            guard release.index > 0, release.index <= life.operations.count else { continue }
            let operation = life.operations[Int(release.index - 1)]
            let settings = cluster.plan.settings(of: release.following.cohort)
            let gateTime = (settings.ink == .progressive ? ends : gateTimes)[Int(release.index - 1)]
            if settings.gate == .none, !release.isLate { continue }
            let isRight = release.standings.contains { standing in
                if release.isLate { return isOverdue(standing, operation, life, settings) }
                guard let video = standing.video else {
                    return settings.gate == .auto && isUnheard(release, standing, number, life)
                }
                if let line = operation.timeLine, video.session < line,
                    isRestart(operation, of: known, life, until: release.at)
                {
                    return false
                }
                return isInTime(video, operation, gateTime, life)
            }
            if isRight { continue }
            report(
                known.room,
                """
                \(release.process) released \(release.index) to \(release.following.cohort)\
                \(release.isLate ? " late" : "") at \(release.at.nanoseconds / 1_000_000) ms, \(release.standings), not \
                before \(gateTime.map(String.init) ?? "-") ms of \(operation.epoch) in \(life.sessions); after \
                \(release.at - operation.loggedAt)
                """)
        }
    }

    /// Whether a daemon that nothing has disturbed must see that the encoder has begun anew with a draw, before the video shows it.
    /// One that had not come to the draw then, its room being out of memory, may have had the log name the session before.
    private func isRestart(
        _ operation: ModelRoom.Expected, of known: Ledger.Life, _ life: ModelRoom.Life, until moment: Moment
    ) -> Bool {
        guard cluster.plan.tellsAge, cluster.plan.namesSessions,
            isUndisturbed(operation, until: moment), let fall = fall(to: operation, life),
            let said = ledger.saidAt[Ledger.Place(life: known, index: operation.index)],
            said - operation.loggedAt <= Self.leastDelay
        else { return false }
        return fall > 10_500
    }

    /// No video is behind by less.
    private static let leastDelay = Duration.milliseconds(100)

    /// By how many milliseconds a draw lies below the one before of its author.
    private func fall(to operation: ModelRoom.Expected, _ life: ModelRoom.Life) -> Int64? {
        guard operation.kind == .draw, let time = operation.time else { return nil }
        let earlier = life.operations.prefix(Int(operation.index - 1)).last {
            $0.kind == .draw && $0.author == operation.author && $0.time != nil
        }
        return earlier?.time.map { $0 - time }
    }

    /// Whether a process may take an operation to be in a session that the video has not reached. One that is behind sees that by
    /// itself, though its decision comes into the log after the session's name, and counts for nothing there.
    private func isForeseen(_ operation: ModelRoom.Expected, _ life: ModelRoom.Life) -> Bool {
        operation.wasForeseen
            || life.operations.prefix(Int(operation.index)).contains {
                $0.epoch == operation.epoch && fall(to: $0, life) ?? 0 > 10_000
            }
    }

    /// Whether nothing has failed from when an operation was logged, or just before.
    private func isUndisturbed(_ operation: ModelRoom.Expected, until moment: Moment) -> Bool {
        cluster.world.lastTrouble(until: moment) + Self.recovery < operation.loggedAt
    }

    /// Where nothing has failed meanwhile, nothing waits longer than the policy lets it.
    private func checkDelays(of known: Ledger.Life, _ life: ModelRoom.Life) {
        // Rooms that are not in memory are loaded in turns.
        guard cluster.plan.places >= cluster.plan.rooms.count else { return }
        var seen: [CohortName: Set<UInt64>] = [:]
        for release in ledger.releases where release.following.life == known {
            let settings = cluster.plan.settings(of: release.following.cohort)
            guard settings.gate == .none || settings.policy == .maxhold, release.index <= life.operations.count,
                seen[release.following.cohort, default: []].insert(release.index).inserted
            else { continue }
            let operation = life.operations[Int(release.index - 1)]
            guard isUndisturbed(operation, until: release.at) else { continue }
            let wait = release.at - operation.loggedAt
            let limit = settings.gate == .none ? Self.slack : settings.maxHold + Self.stillTime + Self.slack
            if wait > limit {
                report(known.room, "\(release.index) waited \(wait) for \(release.following.cohort)")
            }
        }
    }

    /// The longest pause and the longest stall.
    private static let stillTime = Duration.seconds(10)
    /// A reader may be interrupted, which is no trouble.
    private static let slack = Duration.seconds(3)

    /// Whether an operation has waited as long as it may.
    private func isOverdue(
        _ standing: Standing, _ operation: ModelRoom.Expected, _ life: ModelRoom.Life, _ settings: CohortSettings
    ) -> Bool {
        guard settings.gate != .none else { return false }
        // A video that does not follow a restart is waited for no longer than it is behind.
        if standing.video != nil,
            standing.at - operation.loggedAt >= (standing.age ?? .zero) + .seconds(5) - Self.clockError,
            isForeseen(operation, life)
        {
            return true
        }
        return settings.policy == .maxhold
            && standing.wait(since: operation.loggedAt) >= settings.maxHold - Self.clockError
    }

    /// Whether a process need not know that a cohort has a video: nobody has heard of it in this life of the room, or just now, or
    /// the process stood still then.
    private func isUnheard(
        _ release: Ledger.Release, _ standing: Standing, _ number: Int, _ life: ModelRoom.Life
    ) -> Bool {
        let cohort = Cluster.Listening(
            room: release.following.life.room, life: number, cohort: release.following.cohort)
        guard let heard = cluster.heardSince[cohort] else { return true }
        // A room that nobody has written to is not saved.
        let first = life.operations.first?.loggedAt ?? heard
        return release.at - max(heard, first, standing.runsSince) <= Self.saving
    }

    /// What is new of a cohort is saved within this time.
    private static let saving = Duration.seconds(5)

    private func isInTime(
        _ video: (session: Int64, farthest: Int64), _ operation: ModelRoom.Expected, _ gateTime: Int64?,
        _ life: ModelRoom.Life
    ) -> Bool {
        let session = life.session(of: operation)
        // A straggler, drawn to the picture of an earlier session, waits only for its predecessors.
        let line = life.timeLine(of: operation)
        // The first name is that of the session that was there.
        let video = (session: video.session < 0 ? life.sessions.first ?? -1 : video.session, farthest: video.farthest)
        if let line, line < session, video.session >= session { return true }
        if video.session > session { return true }
        if video.session == session { return gateTime.map { $0 * 1_000_000 < video.farthest } ?? true }
        guard let time = operation.time, line == video.session else { return false }
        return time * 1_000_000 < video.farthest
    }

    /// Every cohort got every operation.
    private func checkEnd(of known: Ledger.Life, _ life: ModelRoom.Life) {
        let head = UInt64(life.operations.count)
        guard head > 0 else { return }
        for cohort in cluster.plan.cohorts {
            let published = ledger.published[Ledger.Following(life: known, cohort: cohort)] ?? []
            let first = cohort == .main ? 1 : published.min() ?? head
            let missing = (first...head).filter { !published.contains($0) }
            if !missing.isEmpty { report(known.room, "\(missing) of \(head) were not released to \(cohort)") }
        }
    }

    /// Everything acknowledged ends in an index or in feedback.
    private func checkTold(_ room: RoomID, _ plain: ModelRoom) {
        let told = ledger.told[room] ?? [:]
        for owed in plain.owed {
            let feedback = told[owed.author] ?? []
            let isTold = feedback.contains { message in
                guard message.session == owed.session else { return false }
                return switch (message.feedback, owed.kind) {
                case (.applied(let number, let index), .applied(let expected)):
                    number == owed.number && index == expected
                case (.rejected(let number, _, _), .rejected): number == owed.number
                case (.gaveUp(let from, let to), .gaveUp): from <= owed.number && owed.number <= to
                default: false
                }
            }
            if !isTold { report(room, "\(owed.author) was never told that \(owed.number) is \(owed.kind)") }
        }
        for (author, count) in plain.garbage {
            let answers = (told[author] ?? []).count {
                if case .rejected(nil, _, _) = $0.feedback { true } else { false }
            }
            if answers < count { report(room, "\(author) was told of \(answers) of \(count) unreadable messages") }
        }
    }

    /// Every student has the board, whenever it joined.
    private func checkStudents(of room: RoomID, _ plain: ModelRoom) {
        let life = plain.lives.last.flatMap { $0.isClosed ? nil : $0 }
        // Who joined at a daemon that lags follows a life that has ended, until the next life has an operation.
        if cluster.plan.closesRooms || plain.wasRefused, life?.operations.isEmpty ?? true { return }
        for student in students where student.room == room {
            let board = life?.board ?? ModelPages()
            if student.visible != board.visible || student.index != UInt64(life?.operations.count ?? 0)
                || student.pages.shown != board.shown || student.pages.order != board.order
            {
                report(
                    room,
                    """
                    \(student.name) of \(student.cohort) has \(student.index) of \(student.incarnation), not \
                    \(life?.operations.count ?? 0) of \(life?.incarnation ?? "none")
                    """)
            }
        }
    }

    private func report(_ room: RoomID, _ text: String) { cluster.world.report("\(room): \(text)") }
}
