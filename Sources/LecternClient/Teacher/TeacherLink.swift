internal import NATSClient
internal import StrokeWire

/// What reaches a teacher.
enum TeacherEvent: Sendable {
    case feedback([UInt8])
    case answer(PublishAnswer, Receipt)
    case connection(ConnectionState)
    case denied(Denial)
}

/// The subjects of one teacher: messages out; feedback, answers to messages and news of the connection in.
struct TeacherLink: Sendable {
    private let connection: NATSConnection
    private let input: String
    private let inbox: String
    private let subscriptions: [NATSSubscription]
    private let observations: [Observation]

    /// Begins to put what comes into the queue.
    init(
        _ connection: NATSConnection, address: RoomAddress, author: AuthorID, events: EventQueue<TeacherEvent>
    ) throws(NATSError) {
        self.connection = connection
        input = address.subject(.input(author))
        // 128 random bits: nobody else listens there.
        let inbox = "_INBOX.\(Teacher.newSession())\(Teacher.newSession())."
        self.inbox = inbox
        let needed = [
            Denial(.publish, input), Denial(.subscribe, address.subject(.feedback(author))),
            Denial(.subscribe, inbox + "*"),
        ]
        observations = [
            connection.onDenial { if needed.contains($0) { events.put(.denied($0)) } },
            connection.onStateChange { events.put(.connection($0)) },
        ]
        let feedback = try connection.subscribe(address.subject(.feedback(author))) { message in
            events.put(.feedback(message.copyPayload()))
        }
        let answers: NATSSubscription
        do throws(NATSError) {
            answers = try connection.subscribe(inbox + "*") { message in
                guard let receipt = Receipt(String(message.subject.dropFirst(inbox.count))),
                    let answer = PublishAnswer(message)
                else { return }
                events.put(.answer(answer, receipt))
            }
        } catch {
            feedback.unsubscribe()
            throw error
        }
        subscriptions = [feedback, answers]
    }

    func publish(
        _ message: OutgoingMessage, session: String, messageID: String, _ receipt: Receipt
    ) throws(NATSError) {
        try connection.publish(
            message.bytes, to: input, reply: inbox + receipt.description,
            headers: [HeaderName.session: session, HeaderName.msgID: messageID])
    }

    func close() {
        for subscription in subscriptions { subscription.unsubscribe() }
        for observation in observations { observation.cancel() }
    }
}
