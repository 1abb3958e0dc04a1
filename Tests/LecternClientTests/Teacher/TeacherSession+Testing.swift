@testable import LecternClient

extension TeacherSession {
    /// A session of the author `a` in the room `r`.
    init(_ plan: PublishPlan, session: String, patience: Duration) {
        self.init(
            plan.messages, session: session,
            ids: MessageIDs(room: "r", author: "a", session: session, run: "run"), patience: patience)
    }
}
