internal import Hummingbird
internal import LecternClient
internal import NIOCore

/// Work on the pages of a room. It goes on when its client has gone: half a document helps nobody.
struct PageJob: Sendable {
    enum Event: Sendable {
        case progress(made: Int, all: Int)
        case done(Result<[UInt8], GatewayError>)
    }

    /// What was made, when all is done.
    struct Outcome: Sendable {
        let pages: [Int]
        /// One line of JSON.
        let answer: String
    }

    /// Reports how far the work is.
    typealias Report = @Sendable (_ made: Int, _ all: Int) -> Void

    private let events: AsyncStream<Event>

    /// - Parameter work: returns the answer, a line of JSON.
    init(_ work: @escaping @Sendable (Report) async throws -> [UInt8]) {
        // A client that reads slowly misses some progress, never the end.
        let (events, sink) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(16))
        self.events = events
        Task {
            let result: Result<[UInt8], GatewayError>
            do {
                result = .success(try await work { sink.yield(.progress(made: $0, all: $1)) })
            } catch {
                result = .failure(GatewayError(thrown: error) ?? .internalError)
            }
            sink.yield(.done(result))
            sink.finish()
        }
    }

    private func next() async -> Event {
        for await event in events { return event }
        return .done(.failure(.internalError))
    }

    /// Waits for the end of the work, with the time of an upload, and as much again at each sign of progress.
    ///
    /// - Parameters:
    ///   - wantsProgress: whether the answer is NDJSON: a line at each sign of progress, the answer or the error last. What
    ///     fails before the first of them has a status of its own.
    ///   - channel: the connection of the request.
    func response(wantsProgress: Bool, on channel: any Channel) async throws -> Response {
        try await channel.extendDeadline()
        var event = await next()
        while case .progress = event, !wantsProgress {
            try await channel.extendDeadline()
            event = await next()
        }
        guard case .progress = event else {
            guard case .done(let result) = event else { throw GatewayError.internalError }
            let line = try result.get()
            return Response.body(line, type: wantsProgress ? "application/x-ndjson" : "application/json")
        }
        let first = event
        var headers: HTTPFields = [
            .cacheControl: "no-store", .contentType: "application/x-ndjson", .xContentTypeOptions: "nosniff",
        ]
        headers[EventRoute.buffering] = "no"
        let body = ResponseBody { writer in
            var event = first
            while true {
                try await writer.write(ByteBuffer(bytes: Self.line(event)))
                if case .done = event { break }
                try await channel.extendDeadline()
                event = await next()
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func line(_ event: Event) -> [UInt8] {
        switch event {
        case .progress(let made, let all): Array("{\"made\":\(made),\"of\":\(all)}\n".utf8)
        case .done(.success(let line)): line + [UInt8(ascii: "\n")]
        case .done(.failure(let error)): ErrorBody(error).encoded() + [UInt8(ascii: "\n")]
        }
    }
}

/// The time of what the gateway writes.
struct WriteTime: Sendable {
    /// Milliseconds; nil for none.
    let time: Int64?
    /// A member of the answer, with its comma, where students may see it before the teacher's voice; else empty.
    let warning: String

    /// - Parameter given: the time that the request names; nil for the time at the teacher.
    init(_ given: Int64?, of writer: OperationWriter) async throws(PageError) {
        guard given == nil else {
            (time, warning) = (given, "")
            return
        }
        let now = try await writer.time()
        time = now.stamp
        warning = now.warning.map { ",\"warning\":\"\($0)\"" } ?? ""
    }
}
