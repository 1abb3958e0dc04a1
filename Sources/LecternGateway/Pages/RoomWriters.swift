internal import Hummingbird
internal import LecternClient
internal import Logging
internal import NATSClient
internal import StrokeWire

/// Writes into rooms as the gateway's own author, `gw-<id>`: in each room one piece of work at a time, as pages take numbers
/// that nobody else may have, and an author has one sequence of operations.
///
/// Bounded: beyond `limit` pieces of work, running and waiting, half of them of one room, the answer is `not-ready`. The writers
/// of 1,024 rooms are kept, those used last; one that was forgotten begins another session.
actor RoomWriters {
    private struct Entry {
        /// Nil while a piece of work has it.
        var writer: OperationWriter?
        var waiting: [CheckedContinuation<OperationWriter, Never>] = []
        var lastUse: UInt64
    }

    private static let rooms = 1024

    /// The author of this process.
    let author: AuthorID
    private let connection: NATSConnection
    private let places: RoomShares
    private let logger: Logger
    private var entries: [RoomAddress: Entry] = [:]
    private var uses: UInt64 = 0

    init(connection: NATSConnection, limit: Int, logger: Logger) {
        // The name of an author has these characters.
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        author = AuthorID("gw-\(id)")!
        self.connection = connection
        places = RoomShares(limit)
        self.logger = logger
    }

    /// Does a piece of work in a room, after those that came before it.
    /// - Parameter name: who boards say that it was; nil for this process.
    nonisolated func write<Value: Sendable>(
        to address: RoomAddress, as name: String?, _ work: (inout OperationWriter) async throws(PageError) -> Value
    ) async throws(PageError) -> Value {
        var writer = await take(address)
        writer.name = name
        let result: Result<Value, PageError>
        do throws(PageError) {
            result = .success(try await work(&writer))
        } catch {
            result = .failure(error)
        }
        await giveBack(writer, address)
        return try result.get()
    }

    /// Begins a piece of work, and logs at its end who asked for it.
    /// - Parameter place: is the work's until its end.
    nonisolated func job(
        _ message: Logger.Message, _ asked: Logger.Metadata, _ place: RoomShares.Lease,
        _ work: @escaping @Sendable (PageJob.Report) async throws -> PageJob.Outcome
    ) -> PageJob {
        PageJob { [logger, author] report in
            defer { withExtendedLifetime(place) {} }
            var metadata = asked
            metadata["as"] = "\(author)"
            do {
                let outcome = try await work(report)
                metadata["pages"] = "\(outcome.pages)"
                logger.info(message, metadata: metadata)
                return Array(outcome.answer.utf8)
            } catch {
                let error = GatewayError(thrown: error) ?? .internalError
                metadata["pages"] = "\(error.pages ?? [])"
                metadata["error"] = "\(error.code)"
                logger.info(message, metadata: metadata)
                throw error
            }
        }
    }

    /// Takes a place among the pieces of work.
    nonisolated func place(in room: RoomID) throws(GatewayError) -> RoomShares.Lease {
        guard let place = places.lease(1, for: room) else {
            throw .notReady("The gateway imports and copies as many pages as it can; ask again in a second.")
        }
        return place
    }

    private func take(_ address: RoomAddress) async -> OperationWriter {
        uses += 1
        guard var entry = entries[address] else {
            forgetOne()
            entries[address] = Entry(writer: nil, lastUse: uses)
            return OperationWriter(connection: connection, address: address, author: author, logger: logger)
        }
        entry.lastUse = uses
        if let writer = entry.writer {
            entry.writer = nil
            entries[address] = entry
            return writer
        }
        return await withCheckedContinuation { continuation in
            entry.waiting.append(continuation)
            entries[address] = entry
        }
    }

    private func giveBack(_ writer: OperationWriter, _ address: RoomAddress) {
        guard var entry = entries[address] else { return }
        if entry.waiting.isEmpty {
            entry.writer = writer
            entries[address] = entry
        } else {
            let next = entry.waiting.removeFirst()
            entries[address] = entry
            next.resume(returning: writer)
        }
    }

    private func forgetOne() {
        guard entries.count >= Self.rooms else { return }
        let idle = entries.filter { $0.value.writer != nil }
        if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { entries[oldest.key] = nil }
    }
}

extension GatewayError {
    /// Pages were not made, copied or moved.
    init(_ error: PageError) {
        let message = error.description
        switch error {
        case .unsupported: self.init(.notImplemented, "unsupported", message)
        case .tooManyPages: self.init(.conflict, "too-many-pages", message)
        case .unknownPage: self.init(.notFound, "unknown-page", message)
        case .lastPage: self.init(.conflict, "last-page", message)
        case .conflict: self.init(.conflict, "conflict", message)
        case .incomplete(let pages, _):
            self.init(.badGateway, "incomplete", message)
            self.pages = pages
        case .room(let error): self.init(error)
        }
    }

    /// A file was not taken.
    init(_ error: AssetUploadError) {
        switch error {
        case .refused(let refusal): self.init(refusal)
        case .malformed: self = .badGateway(error.description)
        case .tooLarge: self = .tooLarge(error.description)
        case .empty: self = .badRequest("Send the file as the body.")
        case .nats(let error): self.init(error)
        }
    }
}
