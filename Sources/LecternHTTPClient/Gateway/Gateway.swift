public import Foundation
internal import Locking

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One gateway, and how to be let in. For any number of students, teachers and lessons, from any thread.
///
/// Its connections end with the last reference to it.
public final class Gateway: Sendable {
    /// What returns a token that is valid now; nil for none.
    public typealias TokenSource = @Sendable () async throws -> String?

    /// Its address, with a slash at the end.
    public let url: URL
    private let token: TokenSource
    private let transfers = Transfers()

    /// - Parameters:
    ///   - url: the address of the gateway, `https://ink.school.example/`, with its path where a proxy gives it one.
    ///   - token: asked before each request, so that a token that ends can be replaced. Errors are those of a gateway that
    ///     cannot be reached: it is asked again.
    /// - Throws: `bad-address` for a URL that is not of HTTP, or has a query or a user.
    public init(url: URL, token: @escaping TokenSource = { nil }) throws(GatewayError) {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.query == nil, parts.user == nil,
            parts.fragment == nil, let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            parts.host?.isEmpty == false
        else { throw GatewayError("bad-address", "\(url) is no address of a gateway.") }
        if !parts.path.hasSuffix("/") { parts.path += "/" }
        guard let address = parts.url else { throw GatewayError("bad-address", "\(url) is no address of a gateway.") }
        (self.url, self.token) = (address, token)
    }

    /// - Parameter token: one that is valid for all that is done with it.
    public convenience init(url: URL, token: String) throws(GatewayError) {
        try self.init(url: url, token: { token })
    }
}

struct GatewayRequest: Sendable {
    var method = "GET"
    /// Below the gateway's address: `api/rooms/physics/events`.
    var path: String
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    /// How long nothing may come.
    var timeout = Duration.seconds(30)
}

extension Gateway {
    /// Sends a request.
    /// - Parameter limit: bytes of the answer at most.
    /// - Returns: the body of an answer 2xx.
    func answer(to request: GatewayRequest, limit: Int) async throws(GatewayError) -> [UInt8] {
        let collected = Locked((response: HTTPURLResponse?.none, bytes: [UInt8](), isTooLarge: false))
        let failure = await transfers.run(try await urlRequest(request)) { response in
            collected.withLock { $0.response = response }
        } onData: { data in
            collected.withLock { collected in
                let limit = collected.response?.isSuccess == true ? limit : GatewayError.mostBytes
                // For good: a smaller part may have been on its way.
                collected.isTooLarge = collected.isTooLarge || collected.bytes.count + data.count > limit
                if !collected.isTooLarge { collected.bytes.append(contentsOf: data) }
                return !collected.isTooLarge
            }
        }
        let (response, bytes, isTooLarge) = collected.withLock { $0 }
        if let response, !response.isSuccess, failure == nil || isTooLarge { throw GatewayError(response, bytes) }
        if isTooLarge { throw .tooLarge(limit) }
        if let failure { throw GatewayError(failure) }
        guard response != nil else { throw .unexpected("The server answers nothing.") }
        return bytes
    }

    /// Reads an event stream until it ends, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - onOpen: called on a thread of the session when the gateway lets the reader in.
    ///   - onData: called there with the next bytes, as they come.
    /// - Throws: where the gateway refuses the reader, or the connection breaks.
    func stream(
        _ request: GatewayRequest, onOpen: @escaping @Sendable () -> Void, onData: @escaping @Sendable (Data) -> Void
    ) async throws(GatewayError) {
        let refusal = Locked((response: HTTPURLResponse?.none, bytes: [UInt8]()))
        let failure = await transfers.run(try await urlRequest(request)) { response in
            if response.statusCode == 200, response.isEventStream { return onOpen() }
            refusal.withLock { $0.response = response }
        } onData: { data in
            refusal.withLock { refusal in
                guard let response = refusal.response else {
                    onData(data)
                    return true
                }
                refusal.bytes.append(contentsOf: data.prefix(GatewayError.mostBytes - refusal.bytes.count))
                // What is no stream need not be read to its end.
                return !response.isSuccess && refusal.bytes.count < GatewayError.mostBytes
            }
        }
        let (response, bytes) = refusal.withLock { $0 }
        if Task.isCancelled { throw .cancelled }
        if let response {
            throw response.isSuccess ? .unexpected("The answer is no event stream.") : GatewayError(response, bytes)
        }
        if let failure { throw GatewayError(failure) }
    }

    private func urlRequest(_ request: GatewayRequest) async throws(GatewayError) -> URLRequest {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        parts?.path += request.path
        if !request.query.isEmpty {
            parts?.queryItems = request.query.map { URLQueryItem(name: $0.name, value: $0.value) }
        }
        guard let address = parts?.url else { throw GatewayError("bad-address", "\(request.path) is no path.") }
        var result = URLRequest(url: address)
        result.httpMethod = request.method
        result.timeoutInterval = request.timeout / .seconds(1)
        result.cachePolicy = .reloadIgnoringLocalCacheData
        for (name, value) in request.headers { result.setValue(value, forHTTPHeaderField: name) }
        if let body = request.body { result.httpBody = Data(body) }
        let token: String?
        do {
            token = try await self.token()
        } catch {
            throw Task.isCancelled
                ? .cancelled : GatewayError("no-token", "There is no token: \(error.localizedDescription)")
        }
        if let token { result.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if Task.isCancelled { throw .cancelled }
        return result
    }
}

extension HTTPURLResponse {
    fileprivate var isSuccess: Bool { 200...299 ~= statusCode }

    fileprivate var isEventStream: Bool {
        value(forHTTPHeaderField: "Content-Type")?.lowercased().hasPrefix("text/event-stream") ?? false
    }
}
