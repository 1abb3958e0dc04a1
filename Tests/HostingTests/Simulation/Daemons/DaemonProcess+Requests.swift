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
            clocks.receive(sample, of: room, cohort, at: now)
            host.sample(sample, of: room, cohort: cohort, partition: site.partition(of: room), at: now)
        }
    }

    func hear(_ request: JoinRequest, of room: RoomID, _ cohort: CohortName, answer: @escaping (CatchUp) -> Void) {
        post { [self] in
            let partition = site.partition(of: room)
            let isOthers = membership.servedByOthers.contains(partition) && !membership.serving.contains(partition)
            if !isOthers { reply(Question(room: room, cohort: cohort, request: request, answer: answer)) }
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
