internal import Foundation
internal import Locking

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Carries requests out by a session of its own, which has no cookies, no cache and follows no redirect: a token goes to its
/// gateway alone.
///
/// Receivers are called on the session's queue, one after another. The session ends with this object, and with it all
/// transfers.
final class Transfers: Sendable {
    private let session: URLSession
    private let delegate = TransferDelegate()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        // Event streams keep theirs.
        configuration.httpMaximumConnectionsPerHost = 16
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    deinit { session.invalidateAndCancel() }

    /// Sends a request; returns when its answer has ended. A cancelled task ends the transfer.
    ///
    /// - Parameters:
    ///   - onResponse: the head of the answer.
    ///   - onData: the next bytes, without compression. Returns false to end the transfer.
    /// - Returns: why it has not come to its end; nil where it has.
    func run(
        _ request: URLRequest, onResponse: @escaping @Sendable (HTTPURLResponse) -> Void,
        onData: @escaping @Sendable (Data) -> Bool
    ) async -> (any Error)? {
        let task = session.dataTask(with: request)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                delegate.add(
                    task.taskIdentifier,
                    TransferDelegate.Receiver(
                        onResponse: onResponse, onData: onData, onEnd: { continuation.resume(returning: $0) }))
                // Begun and cancelled at once, where the connection is refused meanwhile, Foundation on Linux ends the program.
                if Task.isCancelled { task.cancel() } else { task.resume() }
            }
        } onCancel: {
            // Before it has a receiver nobody would hear of its end.
            if delegate.has(task.taskIdentifier) { task.cancel() }
        }
    }
}

/// Hands what happens to a session's tasks to their receivers.
private final class TransferDelegate: NSObject, URLSessionDataDelegate {
    struct Receiver: Sendable {
        let onResponse: @Sendable (HTTPURLResponse) -> Void
        let onData: @Sendable (Data) -> Bool
        let onEnd: @Sendable ((any Error)?) -> Void
    }

    private let receivers = Locked<[Int: Receiver]>([:])

    func add(_ task: Int, _ receiver: Receiver) { receivers.withLock { $0[task] = receiver } }

    func has(_ task: Int) -> Bool { receivers.withLock { $0[task] != nil } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse,
            let receiver = receivers.withLock({ $0[dataTask.taskIdentifier] })
        else { return completionHandler(.cancel) }
        receiver.onResponse(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let receiver = receivers.withLock({ $0[dataTask.taskIdentifier] }) else { return }
        if !receiver.onData(data) { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        receivers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.onEnd(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
