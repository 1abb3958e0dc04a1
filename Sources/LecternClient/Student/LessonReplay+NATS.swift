public import ClientCore
internal import ClientRuntime
public import NATSClient
public import StrokeWire

extension LessonReplay {
    /// Why a lesson could not be fetched.
    public enum FetchError: Error, Sendable, CustomStringConvertible {
        case refused(RequestError)
        case unanswered(NATSError)
        case malformed(String)

        public var description: String {
            switch self {
            case .refused(let error): error.message
            case .unanswered(let error): "the service does not answer: \(error)"
            case .malformed(let text): "the service's answer cannot be used: \(text)"
            }
        }
    }

    /// Fetches the whole lesson, as far as a cohort has seen it or to the end of the log.
    /// - Parameters:
    ///   - feed: whose lesson it is.
    ///   - address: the room's.
    ///   - connection: connected.
    ///   - onPart: called after each part with the number of operations so far, and with how many there are.
    public static func fetch(
        _ feed: RoomFeed, of address: RoomAddress, over connection: NATSConnection,
        onPart: (_ fetched: Int, _ all: UInt64) -> Void = { _, _ in }
    ) async throws(FetchError) -> LessonReplay {
        try await LessonFetch.wholeLesson(onPart: onPart, malformed: FetchError.malformed) {
            request throws(FetchError) in
            try await part(request, address.subject(feed.replay), connection)
        }
    }

    private static func part(
        _ request: ReplayRequest, _ subject: String, _ connection: NATSConnection
    ) async throws(FetchError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(NATSError) {
            bytes = try await connection.requestParts(
                request.encoded(), to: subject, timeout: .seconds(30), repeatingFor: NATSConnection.stallLimit
            ).payload
        } catch {
            throw .unanswered(error)
        }
        if let refusal = RequestError(decoding: bytes) { throw .refused(refusal) }
        return bytes
    }
}
