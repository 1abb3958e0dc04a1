@_exported public import ClientRuntime
public import StrokeWire

/// An append-only file of a publisher's messages and their results, from which the next run resumes.
///
/// It gets a line for each message before its first sending, for each acknowledgement and for each settled operation. It
/// grows with the messages; the caller removes it. Written lines survive the end of the process, but not always a loss of
/// power. An incomplete last line was never acted upon and is cut off.
///
/// Locked (`flock`) from opening until deinitialization. For one task at a time.
public final class OutboxFile {
    /// Path of the file as given.
    public let path: String
    /// Session id of this run and of earlier ones.
    public let session: String
    /// The records of earlier runs.
    public let history: OutboxHistory
    private let file: LineFile

    /// Opens or creates a file.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - address: the room's address.
    ///   - author: the author of the messages.
    ///   - session: session id of a new file; for an existing file nil or its session id.
    /// - Throws: `OutboxFileError`, also for the file of another room or author, and one in use by another process.
    public init(
        path: String, address: RoomAddress, author: AuthorID, session: String? = nil
    ) throws(OutboxFileError) {
        self.path = path
        let file = try LineFile(path: path)
        self.file = file
        let contents = try file.contents()
        let lines = OutboxLines(contents)
        guard let first = lines.first else {
            guard OutboxHeader.canBegin(contents) else { throw OutboxFileError(path, .notAnOutbox) }
            self.session = session ?? Teacher.newSession()
            history = OutboxHistory(session: self.session)
            try file.cut(to: 0)
            try file.append(OutboxHeader(address: address, author: author, session: self.session).line)
            return
        }
        do throws(OutboxFileError.Cause) {
            guard let header = OutboxHeader(first) else { throw .notAnOutbox }
            guard header.owner == "\(author.text) in \(address)" else { throw .otherOwner(header.owner) }
            guard session ?? header.session == header.session else { throw .otherSession(header.session) }
            self.session = header.session
            history = try lines.history(of: header.session)
        } catch {
            throw OutboxFileError(path, error)
        }
        try file.cut(to: lines.length)
    }

    /// Appends records. The operating system has them when this returns.
    func append(_ records: [OutboxRecord]) throws(OutboxFileError) {
        guard !records.isEmpty else { return }
        try file.append(records.flatMap { OutboxLine.encoded($0.content) })
    }
}

extension OutboxLines {
    /// The history of a session from the lines after the header.
    func history(of session: String) throws(OutboxFileError.Cause) -> OutboxHistory {
        var history = OutboxHistory(session: session)
        for (place, line) in lines.enumerated().dropFirst() {
            guard let record = OutboxLine.content(of: line).flatMap(OutboxRecord.init) else {
                throw .damaged(line: place + 1)
            }
            history.append(record)
        }
        return history
    }
}

/// The first line of an outbox file: room, author and session.
struct OutboxHeader {
    private static let title = "lectern-outbox 1"

    let address: String
    let author: String
    let session: String

    init(address: RoomAddress, author: AuthorID, session: String) {
        (self.address, self.author, self.session) = (address.description, author.text, session)
    }

    /// Whose outbox it is.
    var owner: String { "\(author) in \(address)" }

    /// - Returns: nil for another line.
    init?(_ line: ArraySlice<UInt8>) {
        guard let content = OutboxLine.content(of: line) else { return nil }
        let words = String(decoding: content, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, "\(words[0]) \(words[1])" == Self.title else { return nil }
        (address, author, session) = (String(words[2]), String(words[3]), String(words[4]))
    }

    var line: [UInt8] {
        OutboxLine.encoded(Array("\(Self.title) \(address) \(author) \(session)".utf8))
    }

    /// Whether a file without a complete line may be an outbox with an incomplete header.
    static func canBegin(_ contents: [UInt8]) -> Bool {
        contents.prefix(8).allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
            && (" " + title + " ").utf8.starts(with: contents.dropFirst(8).prefix(title.utf8.count + 2))
    }
}
