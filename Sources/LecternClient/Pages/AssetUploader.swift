public import Assets
internal import Foundation
public import NATSClient
public import StrokeWire

/// Sends files to the service, part by part, see `AssetUpload`: of each file one part is in memory, and the next is read when
/// the service has taken it. Safe from any task.
public struct AssetUploader: Sendable {
    /// How long the service may take for an answer, stalls included. Where no service takes files, the answer comes at once.
    public struct Timeouts: Sendable {
        /// Finding a place for the file.
        public var begin = NATSConnection.stallLimit
        /// Taking a part.
        public var part = NATSConnection.stallLimit
        /// Opening and storing the file.
        public var opening = Duration.seconds(120)

        public init() {}
    }

    private let connection: NATSConnection
    private let timeouts: Timeouts

    /// - Parameter connection: a connection that `connect` was called on.
    public init(connection: NATSConnection, timeouts: Timeouts = Timeouts()) {
        (self.connection, self.timeouts) = (connection, timeouts)
    }

    /// Sends a file.
    ///
    /// - Parameters:
    ///   - body: the file in pieces of any size, 1 … 50 MiB in all.
    ///   - length: bytes of the body, where they are known: the service keeps so much memory free for it.
    ///   - password: of an encrypted PDF.
    ///   - address: a room that it is brought to.
    /// - Throws: ``AssetUploadError``, and what the body throws.
    /// - Returns: the service's JSON, an `AssetUpload.Summary`.
    public func upload<Body: AsyncSequence>(
        _ body: Body, length: Int? = nil, password: String? = nil, to address: RoomAddress
    ) async throws -> [UInt8] where Body.Element == [UInt8] {
        let begin = try JSONEncoder().encode(AssetUpload.Begin(bytes: length ?? AssetLimits.bytes, password: password))
        let answer = try await ask(Array(begin), AssetUpload.subject(address), within: timeouts.begin)
        guard let ticket = try? JSONDecoder().decode(AssetUpload.Ticket.self, from: Data(answer)),
            1...AssetUpload.partBytes ~= ticket.part
        else { throw AssetUploadError.malformed }

        var waiting: [UInt8] = []
        var sent = 0
        func send(_ part: [UInt8], within limit: Duration) async throws -> [UInt8] {
            let answer = try await ask(part, ticket.to, [AssetUpload.offsetHeader: "\(sent)"], within: limit)
            sent += part.count
            return answer
        }
        do {
            for try await piece in body {
                waiting += piece
                guard sent + waiting.count <= AssetLimits.bytes else { throw AssetUploadError.tooLarge }
                while waiting.count >= ticket.part {
                    _ = try await send(Array(waiting.prefix(ticket.part)), within: timeouts.part)
                    waiting.removeFirst(ticket.part)
                }
            }
            if !waiting.isEmpty { _ = try await send(waiting, within: timeouts.part) }
            guard sent > 0 else { throw AssetUploadError.empty }
        } catch {
            giveUp(ticket)
            throw error
        }
        return try await send([], within: timeouts.opening)
    }

    /// Ends an upload, so that the service has place for the next one at once.
    private func giveUp(_ ticket: AssetUpload.Ticket) {
        // No part comes before the file. Nobody waits for the answer.
        let headers: NATSHeaders = [AssetUpload.offsetHeader: "-1"]
        try? connection.publish([], to: ticket.to, reply: connection.makeInbox(), headers: headers)
    }

    /// Brings a file that the service has to a further room, before operations name it there: an erasure of another room
    /// leaves it then.
    ///
    /// - Throws: `.refused`; `.nats`.
    /// - Returns: whether the service has it.
    public func bring(_ id: AssetID, to address: RoomAddress) async throws(AssetUploadError) -> Bool {
        do throws(AssetUploadError) {
            _ = try await ask(Array("{\"id\":\"\(id)\"}".utf8), AssetUpload.subject(address), within: timeouts.begin)
            return true
        } catch {
            // A service without a journal has no files.
            guard case .refused(let refusal) = error,
                [AssetError.unknown.code, AssetError.noJournal.code].contains(refusal.error.code)
            else { throw error }
            return false
        }
    }

    /// - Throws: the service's refusal.
    private func ask(
        _ payload: [UInt8], _ subject: String, _ headers: NATSHeaders = [:], within limit: Duration
    ) async throws(AssetUploadError) -> [UInt8] {
        let answer: [UInt8]
        do throws(NATSError) {
            answer = try await connection.request(payload, to: subject, headers: headers, timeout: limit).payload
        } catch {
            throw .nats(error)
        }
        if let refusal = try? JSONDecoder().decode(AssetUpload.Refusal.self, from: Data(answer)) {
            throw .refused(refusal)
        }
        return answer
    }
}

/// Why a file was not taken.
public enum AssetUploadError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The service says why.
    case refused(AssetUpload.Refusal)
    /// The service's answer cannot be read.
    case malformed
    /// The file has more bytes than a file may have.
    case tooLarge
    /// The file has no bytes.
    case empty
    /// NATS reported an error; `.noResponders` where no service takes files.
    case nats(NATSError)

    public var description: String {
        switch self {
        case .refused(let refusal): refusal.error.message
        case .malformed: "The service's answer to the upload cannot be decoded."
        case .tooLarge: "The file has more than \(AssetLimits.bytes) bytes."
        case .empty: "The file is empty."
        case .nats(.noResponders): "No service takes files."
        case .nats(let error): "\(error)"
        }
    }
}

extension AssetUpload.Summary {
    /// Reads the service's answer.
    /// - Throws: ``AssetUploadError/malformed``.
    public init(decoding bytes: [UInt8]) throws(AssetUploadError) {
        guard let summary = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { throw .malformed }
        self = summary
    }
}
