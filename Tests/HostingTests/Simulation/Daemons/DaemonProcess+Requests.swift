import Hosting
import StrokeWire
import Whiteboard

/// What comes to a process over core NATS.
extension DaemonProcess {
    /// A student who waits for a room to come into memory.
    struct Question {
        let room: RoomID
        let cohort: CohortName
        let request: JoinRequest
        let answer: (CatchUp) -> Void
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
            if let known { clocks.receive(sample, of: known, cohort, named: named, at: now) }
            let taken = site.fault == .hurries ? ahead(sample) : sample
            host.sample(taken, of: room, cohort: cohort, partition: partition, at: now)
            if known == nil, let made = presence(of: room) {
                clocks.receive(sample, of: made, cohort, named: named, at: now)
            }
        }
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
        let read = max(works[partition]?.delivered ?? 0, keeper.restoredThrough[room] ?? 0)
        var naming = ClockBook.Naming()
        for entry in site.logs[partition].decisions where entry.record.room == room && entry.record.sequence <= read {
            switch entry.record.content {
            case .control(.epoch(let number)): naming.session = max(naming.session, number)
            case .control(.close): naming = ClockBook.Naming(life: naming.life + 1)
            case .control(.gaveUp), .message: break
            }
        }
        return naming
    }

    /// The room, where it is in memory and its clocks are listened to.
    private func presence(of room: RoomID) -> HostedRoom? {
        guard let work = works[site.partition(of: room)], work.isCaughtUp, !work.isClosing else { return nil }
        if case .here(let hosted) = host.known(room) { return hosted }
        return nil
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
        case .waking, .recovering: questions.append(question)
        case .elsewhere: break
        }
    }
}
