import ArgumentParser
import ConnectionOptions
import Foundation
import Locking
import Logging
import NATSClient
import StrokeWire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where samples go. Any thread may call; nothing waits.
protocol SampleOutput: Sendable {
    /// - Returns: whether the sample is on its way.
    func publish(_ sample: ClockSample) -> Bool
    /// Why no sample will be accepted any more.
    var failure: String? { get }
    /// How long samples go on after the end, in case some are lost. The gate releases everything 2 s after the end.
    var lingerTime: Duration { get }
    /// Waits a moment for the last sample.
    func close() async
}

extension SampleOutput {
    var lingerTime: Duration { .seconds(3) }

    func close() async {}
}

/// Options for where samples go.
struct DestinationOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "First part of all subjects, the service's subjects.root: 1 to 64 characters of a-z, 0-9, _ and -.")
    var root = "ink"

    @Option(help: "Number of partitions, the service's subjects.partitions: 1 to 1024.")
    var partitions = 1

    @Option(
        help: ArgumentHelp("Gateway to post samples to over HTTP, instead of NATS. Default: none.", valueName: "url"))
    var gateway: String?

    @Option(
        help: ArgumentHelp("File with the token for the gateway; it is read anew for each sample.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Print samples, and publish nothing.")
    var print = false

    func validate() throws {
        guard RoomID(root) != nil else { throw ValidationError("--root has 1 to 64 characters of a-z, 0-9, _ and -") }
        guard (1...1024).contains(partitions) else { throw ValidationError("--partitions is 1 to 1024") }
        guard gateway == nil || connection.nats == nil else {
            throw ValidationError("--nats and --gateway exclude each other")
        }
        if let gateway {
            guard let url = URL(string: gateway), url.host != nil, ["http", "https"].contains(url.scheme) else {
                throw ValidationError("--gateway is a URL with http or https")
            }
        }
    }

    /// Connects, or ends the command.
    /// - Parameter clocks: how many clocks will send their samples there.
    func open(for clocks: Int, logger: Logger) async throws -> SampleDestination {
        if print { return .none }
        if let gateway { return .gateway(gateway, tokenFile: tokenFile, logger) }
        let connection = try await connection.connect(as: "lectern-probe clock", logger: logger)
        return .nats(SampleBatcher(connection, root: root, partitions: partitions, batches: clocks > 1))
    }
}

/// Where the samples of all clocks go.
enum SampleDestination {
    case none
    case gateway(String, tokenFile: String?, Logger)
    case nats(SampleBatcher)

    func output(of room: RoomID?, cohort: CohortName) -> any SampleOutput {
        switch self {
        case .gateway(let url, let tokenFile, let logger):
            if let room { GatewayOutput(url, room, cohort, tokenFile: tokenFile, logger: logger) } else { NoOutput() }
        case .nats(let batcher):
            if let room { NATSOutput(batcher: batcher, room: room, cohort: cohort) } else { NoOutput() }
        case .none: NoOutput()
        }
    }

    func close() async { if case .nats(let batcher) = self { await batcher.close() } }
}

/// Publishes nothing.
private struct NoOutput: SampleOutput {
    var failure: String? { nil }
    var lingerTime: Duration { .zero }

    func publish(_ sample: ClockSample) -> Bool { true }
}

/// Publishes to NATS. A sample without a connection is dropped: a late one is worthless.
private struct NATSOutput: SampleOutput {
    let batcher: SampleBatcher
    let room: RoomID
    let cohort: CohortName

    var failure: String? { batcher.failure(of: room, cohort) }

    func publish(_ sample: ClockSample) -> Bool { batcher.publish(sample, room: room, cohort: cohort) }
}

/// Posts to a gateway. While a request is under way only the newest sample waits: a late one is worthless.
private final class GatewayOutput: SampleOutput {
    private struct State {
        var isPosting = false
        var waiting: ClockSample?
        var failure: String?
        var isReachable = true
    }

    private let session: URLSession
    private let url: URL?
    private let tokenFile: String?
    private let logger: Logger
    private let state = Locked(State())

    init(_ gateway: String, _ room: RoomID, _ cohort: CohortName, tokenFile: String?, logger: Logger) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 5
        configuration.httpMaximumConnectionsPerHost = 1
        session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
        let base = gateway.hasSuffix("/") ? String(gateway.dropLast()) : gateway
        url = URL(string: "\(base)/api/rooms/\(room.text)/clock?cohort=\(cohort.text)")
        self.tokenFile = tokenFile
        self.logger = logger
    }

    var failure: String? { state.withLock { $0.failure } }

    func publish(_ sample: ClockSample) -> Bool {
        let (isFirst, isReachable) = state.withLock { state in
            defer { state.isPosting = true }
            if state.isPosting { state.waiting = sample }
            return (!state.isPosting, state.isReachable)
        }
        if isFirst { post(sample) }
        return isReachable
    }

    private func post(_ sample: ClockSample) {
        guard let url else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(sample.encoded())
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let tokenFile {
            guard let token = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
                return state.withLock {
                    $0.failure = "the file with the token cannot be read: \(tokenFile)"
                    $0.isPosting = false
                }
            }
            let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
            request.setValue("Bearer \(text)", forHTTPHeaderField: "Authorization")
        }
        session.dataTask(with: request) { [self] body, response, error in
            let status = (response as? HTTPURLResponse)?.statusCode
            let next = state.withLock { state -> ClockSample? in
                state.isReachable = status == 202
                switch status {
                case 301, 302, 303, 307, 308, 400, 401, 403, 404:
                    let text = body.map { String(decoding: $0.prefix(500), as: UTF8.self) } ?? ""
                    state.failure = "the gateway refuses the samples with status \(status ?? 0): \(text)"
                default: break
                }
                defer { state.waiting = nil }
                state.isPosting = state.waiting != nil
                return state.waiting
            }
            if let error { logger.debug("sample not posted", metadata: ["error": "\(error)"]) }
            if let next { post(next) }
        }.resume()
    }

    /// Waits for the last sample, a second at most.
    func close() async {
        for _ in 0..<50 where state.withLock({ $0.isPosting }) { try? await Task.sleep(for: .milliseconds(20)) }
        session.invalidateAndCancel()
    }
}

/// Follows no redirect: a token goes to its gateway alone.
private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
