import Journal
import NATSClient
import StrokeWire
import Whiteboard

/// Carries commands out. A new command is a case of `OperatorCommand` and one here.
struct CommandExecutor: Sendable {
    let root: String
    let partitions: Int
    /// Nil where decisions go over core NATS.
    let journal: JetStreamJournal?
    let connection: NATSConnection
    let revocations: RevocationRegister
    /// Nil where nothing is stored.
    let erasure: RoomErasure?

    /// - Parameter onProgress: called at least each ``CommandProgress/interval`` by what takes longer.
    func carryOut(
        _ request: CommandRequest, onProgress: @escaping @Sendable (CommandProgress) -> Void
    ) async throws(RequestError) -> CommandReply {
        switch request.command {
        case .close(let room): try await decide(.close, room, request.id)
        case .mute(let author, let room): try await decide(.mute(author), room, request.id)
        case .unmute(let author, let room): try await decide(.unmute(author), room, request.id)
        case .erase(let room): try await erase(room, request.id, onProgress)
        case .revoke(let revocation): try await revoke(revocation)
        }
    }

    private func erase(
        _ room: RoomID, _ id: String, _ onProgress: @escaping @Sendable (CommandProgress) -> Void
    ) async throws(RequestError) -> CommandReply {
        guard let erasure else {
            _ = try await decide(.erase, room, id)
            try? connection.publish(ErasedRoom(room: room, assets: []).encoded(), to: ErasedRoom.subject(root: root))
            return CommandReply(detail: "the room has ended; nothing is stored of it, for there is no journal")
        }
        let done = try await erasure.erase(room, by: id, onProgress: onProgress)
        return CommandReply(sequence: done.sequence, detail: done.what)
    }

    private func revoke(_ revocation: Revocation) async throws(RequestError) -> CommandReply {
        do throws(RevocationRegister.Failure) {
            try await revocations.add(revocation)
        } catch {
            switch error {
            case .notReady(let why): throw RequestError(.notReady, why)
            case .full:
                throw RequestError(
                    .listFull,
                    """
                    There are as many revocations as may be, \(RevocationTable.limit), half of them of links. Those of tokens \
                    that have ended make place; another key of tokens ends all at once.
                    """)
            }
        }
        guard journal == nil else { return CommandReply() }
        return CommandReply(detail: "it holds until the daemon ends, which keeps it in memory alone without a journal")
    }

    /// Writes a decision to the room's log, where it takes effect.
    private func decide(
        _ record: ControlRecord, _ room: RoomID, _ id: String
    ) async throws(RequestError) -> CommandReply {
        if let journal {
            do throws(JournalError) {
                return CommandReply(sequence: try await journal.write(record, room: room, id: id))
            } catch {
                throw RequestError(
                    .notReady,
                    "The room's log has not acknowledged the decision, and may have it all the same: \(error).")
            }
        }
        let address = RoomAddress(root: root, room: room, partitions: partitions)
        do throws(NATSError) {
            try connection.publish(record.encoded(), to: address.subject(.control))
            try await connection.flush()
        } catch {
            throw RequestError(.notReady, "The decision cannot be published: \(error).")
        }
        return CommandReply()
    }
}
