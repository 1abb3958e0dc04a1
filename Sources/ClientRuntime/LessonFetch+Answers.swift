package import ClientCore
package import StrokeWire

extension LessonFetch {
    /// Fetches the whole lesson, part by part.
    ///
    /// - Parameters:
    ///   - onPart: called after each part with the number of operations so far, and with how many there are.
    ///   - malformed: makes the error for answers that are no lesson, of the reason.
    ///   - answer: asks for a part, and returns the bytes of the reply.
    package static func wholeLesson<Failure>(
        onPart: (_ fetched: Int, _ all: UInt64) -> Void, malformed: (String) -> Failure,
        answer: (ReplayRequest) async throws(Failure) -> [UInt8]
    ) async throws(Failure) -> LessonReplay {
        var fetch = LessonFetch()
        while let request = fetch.request {
            let bytes = try await answer(request)
            let part: ReplayReply
            do throws(Rejection) {
                part = try ReplayReply(decoding: bytes)
            } catch {
                throw malformed(error.message)
            }
            do throws(MalformedRelease) {
                try fetch.receive(part, bytes: bytes.count)
            } catch {
                throw malformed(error.description)
            }
            onPart(fetch.fetched, fetch.all)
        }
        do throws(MalformedRelease) {
            return try fetch.lesson()
        } catch {
            throw malformed(error.description)
        }
    }
}
