import Dispatch
import StrokeWire
import TestSupport

@testable import LecternServer

/// Records replies in order. Each one but refusals waits at a gate, which keeps the sending thread busy until a test opens
/// it.
final class ReplyRecorder: Sendable {
    enum Reply: Sendable, Equatable {
        case sent([UInt8])
        case refused(RequestError)

        var error: RequestError? { if case .refused(let error) = self { error } else { nil } }
    }

    private let replies: AsyncStream<(String, Reply)>
    private let continuation: AsyncStream<(String, Reply)>.Continuation
    private let gate = DispatchSemaphore(value: 0)

    init() { (replies, continuation) = AsyncStream.makeStream() }

    var sink: ReplySink {
        ReplySink(
            send: { [self] bytes, _, subject in
                continuation.yield((subject, .sent(bytes)))
                gate.wait()
            }, refuse: { [self] subject, error in continuation.yield((subject, .refused(error))) })
    }

    /// The next replies, by subject.
    func next(_ count: Int = 1) async throws -> [String: Reply] {
        let replies = replies
        return try await withDeadline(.seconds(60)) {
            var some: [String: Reply] = [:]
            for await (subject, reply) in replies {
                some[subject] = reply
                if some.count == count { break }
            }
            return some
        }
    }

    /// Lets so many replies pass the gate.
    func open(_ count: Int) {
        for _ in 0..<count { gate.signal() }
    }
}
