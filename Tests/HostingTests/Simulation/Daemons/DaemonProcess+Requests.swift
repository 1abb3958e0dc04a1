import StrokeWire
import Whiteboard

@testable import Hosting

/// What comes to a process over core NATS.
extension DaemonProcess {
    /// A student who waits for a room to come into memory.
    struct Question {
        let room: RoomID
        let cohort: CohortName
        let request: JoinRequest
        let answer: (CatchUp) -> Void
    }

    /// A room as its log makes it, through the last record that was read.
    struct Reading {
        var room: PlainRoom
        var through: UInt64 = 0
    }

    func hear(_ announcement: Announcement) {
        post { [self] in
            _ = membership.receive(announcement, at: now)
            step()
        }
    }

    func hear(_ sample: [UInt8], of room: RoomID, _ cohort: CohortName) {
        post { [self] in
            let partition = site.partition(of: room)
            // By the sample it may release at once.
            let known = presence(of: room)
            world.note("\(name) hears \(String(decoding: sample, as: UTF8.self)) of \(room) \(cohort)")
            let named = naming(of: room)
            if let known { book(sample, of: known, cohort, named) }
            let taken = site.fault == .hurries ? ahead(sample) : sample
            let incoming = IncomingSample(
                room: room, partition: partition, cohort: cohort, bytes: taken, arrivedAt: now)
            host.sample(incoming, at: now)
            if known == nil, let made = presence(of: room) {
                book(sample, of: made, cohort, named)
            }
        }
    }

    /// A sample for a room that is not there yet.
    struct KeptSample {
        let bytes: [UInt8]
        let hosted: HostedRoom
        let cohort: CohortName
        let arrivedAt: Instant
    }

    private func book(_ sample: [UInt8], of hosted: HostedRoom, _ cohort: CohortName, _ named: ClockBook.Naming) {
        guard hosted.room == nil else { return clocks.receive(sample, of: hosted, cohort, named: named, at: now) }
        keptSamples.append(KeptSample(bytes: sample, hosted: hosted, cohort: cohort, arrivedAt: now))
    }

    /// Once a room is there, the samples that were kept for it count for the life that it is in then.
    func bookKept(for hosted: HostedRoom) {
        guard hosted.room != nil, keptSamples.contains(where: { $0.hosted === hosted }) else { return }
        let named = naming(of: hosted.id)
        for sample in keptSamples where sample.hosted === hosted {
            clocks.receive(sample.bytes, of: hosted, sample.cohort, named: named, at: sample.arrivedAt)
        }
        keptSamples.removeAll { $0.hosted === hosted }
    }

    func bookKept() {
        for sample in keptSamples { bookKept(for: sample.hosted) }
        keptSamples.removeAll { host.rooms[$0.hosted.id] !== $0.hosted }
    }

    /// The sample of a video that is half a second farther.
    private func ahead(_ bytes: [UInt8]) -> [UInt8] {
        guard var sample = try? ClockSample(decoding: bytes) else { return bytes }
        sample.media = sample.media + 500_000
        return sample.encoded()
    }

    /// What the room's log has named, as far as it was read.
    func naming(of room: RoomID) -> ClockBook.Naming {
        let partition = site.partition(of: room)
        let log = site.logs[partition]
        var read = max(works[partition]?.delivered ?? 0, keeper.restoredThrough[room] ?? 0)
        // What comes for a room that is about to leave waits until it is back.
        if let hosted = host.rooms[room], hosted.isLeaving { read = min(read, hosted.sequence) }
        var known = readings[room] ?? Reading(room: PlainRoom(site.plan.history))
        if known.through > read { known = Reading(room: PlainRoom(site.plan.history)) }
        while known.through < min(read, log.last) {
            let entry = log.entries[Int(known.through)]
            if entry.record.room == room { known.room.take(entry, prefix: log.prefix) }
            known.through += 1
        }
        readings[room] = known
        let life = known.room.lives.last.flatMap { $0.isClosed ? nil : $0 }
        return ClockBook.Naming(life: known.room.lives.count { $0.isClosed }, session: life?.sessions.last ?? -1)
    }

    /// The room, where it is in memory or comes, and its clocks are listened to.
    private func presence(of room: RoomID) -> HostedRoom? {
        guard let work = works[site.partition(of: room)], work.isCaughtUp, !work.isClosing else { return nil }
        return host.rooms[room]
    }

    func hear(_ request: JoinRequest, of room: RoomID, _ cohort: CohortName, answer: @escaping (CatchUp) -> Void) {
        post { [self] in
            if membership.answers(site.partition(of: room), at: now) {
                reply(Question(room: room, cohort: cohort, request: request, answer: answer))
            }
        }
    }

    func answerQuestions() {
        guard !questions.isEmpty, output.takeOpened() else { return }
        let waiting = questions
        questions = []
        for question in waiting { reply(question) }
    }

    private func reply(_ question: Question) {
        let partition = site.partition(of: question.room)
        switch host.look(for: question.room, partition: partition, at: now) {
        case .here(let hosted):
            if let found = hosted.room?.catchUp(question.request, cohort: question.cohort) { question.answer(found) }
        case .absent:
            let blank = Room(configuration: site.configuration.room, at: now)
            if let found = blank.catchUp(question.request, cohort: question.cohort) { question.answer(found) }
        case .waking, .recovering, .full: questions.append(question)
        case .elsewhere: break
        }
    }
}
