// Lessons, boards and their events are part of this module's API.
@_exported public import ClientCore
internal import ClientRuntime
public import StrokeWire

extension LessonReplay {
    /// Fetches the whole lesson, as far as a cohort has seen it or to the end of the log.
    ///
    /// - Parameters:
    ///   - feed: whose lesson it is.
    ///   - room: the room.
    ///   - gateway: where to ask.
    ///   - onPart: called after each part with the number of operations so far, and with how many there are.
    /// - Throws: among others `gone` where the log no longer holds the beginning, `unknown-room`, `cancelled`, and
    ///   `unexpected-answer` where the parts are no lesson.
    public static func fetch(
        _ feed: RoomFeed, of room: RoomID, over gateway: Gateway,
        onPart: (_ fetched: Int, _ all: UInt64) -> Void = { _, _ in }
    ) async throws(GatewayError) -> LessonReplay {
        try await LessonFetch.wholeLesson(onPart: onPart, malformed: GatewayError.malformedLesson) {
            request throws(GatewayError) in
            try await gateway.answer(
                to: GatewayRequest(path: "api/rooms/\(room.text)/replay", query: request.query(feed)),
                limit: JoinReply.maximumBytes)
        }
    }
}

extension GatewayError {
    fileprivate static func malformedLesson(_ what: String) -> GatewayError {
        unexpected("The lesson cannot be read: \(what)")
    }
}

extension ReplayRequest {
    fileprivate func query(_ feed: RoomFeed) -> [(name: String, value: String)] {
        var query = [feed.query]
        if let after { query.append(("after", "\(after)")) }
        if let incarnation { query.append(("room", incarnation)) }
        return query
    }
}

extension RoomFeed {
    /// As the gateway's addresses have it.
    var query: (name: String, value: String) {
        switch self {
        case .cohort(let cohort): ("cohort", cohort.text)
        case .head: ("cohort", "head")
        }
    }
}
