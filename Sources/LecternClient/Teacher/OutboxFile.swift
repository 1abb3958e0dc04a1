internal import Foundation
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
    private let file: FileHandle

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
        file = try Self.openLocked(path)
        let contents: [UInt8]
        do {
            contents = Array(try file.readToEnd() ?? Data())
        } catch {
            throw OutboxFileError(path, .unreadable("\(error.localizedDescription)"))
        }
        let owner = OutboxHeader.Owner(address: address, author: author)
        let lines = OutboxLines(contents)
        do throws(OutboxFileError.Cause) {
            guard let first = lines.first else {
                guard OutboxHeader.canBegin(contents) else { throw .notAnOutbox }
                self.session = session ?? Teacher.newSession()
                history = OutboxHistory()
                try file.rewrite(OutboxHeader(owner: owner, session: self.session).line)
                return
            }
            guard let header = OutboxHeader(first) else { throw .notAnOutbox }
            guard header.owner == owner else { throw .otherOwner(header.owner.description) }
            guard session ?? header.session == header.session else { throw .otherSession(header.session) }
            self.session = header.session
            history = try lines.history()
            try file.cut(to: lines.length)
        } catch {
            throw OutboxFileError(path, error)
        }
    }

    deinit {
        try? file.close()
    }

    /// Appends records. The operating system has them when this returns.
    func append(_ records: [OutboxRecord]) throws(OutboxFileError) {
        guard !records.isEmpty else { return }
        do {
            try file.write(contentsOf: Data(records.flatMap { OutboxLine.encoded($0.content) }))
        } catch {
            throw OutboxFileError(path, .notWritten(error.localizedDescription))
        }
    }

    private static func openLocked(_ path: String) throws(OutboxFileError) -> FileHandle {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutboxFileError(path, .unreadable(String(cString: strerror(errno)))) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw OutboxFileError(path, .inUse) }
        return file
    }
}

extension FileHandle {
    fileprivate func rewrite(_ line: [UInt8]) throws(OutboxFileError.Cause) {
        try cut(to: 0)
        do {
            try write(contentsOf: Data(line))
        } catch {
            throw .notWritten(error.localizedDescription)
        }
    }

    fileprivate func cut(to length: Int) throws(OutboxFileError.Cause) {
        do {
            try truncate(atOffset: UInt64(length))
            try seekToEnd()
        } catch {
            throw .notWritten(error.localizedDescription)
        }
    }
}

/// The first line of an outbox file: room, author and session.
struct OutboxHeader: Equatable {
    struct Owner: Equatable, CustomStringConvertible {
        let address: String
        let author: String

        init(address: RoomAddress, author: AuthorID) {
            self.address = address.description
            self.author = author.text
        }

        fileprivate init(address: String, author: String) {
            self.address = address
            self.author = author
        }

        var description: String { "\(author) in \(address)" }
    }

    private static let title = "lectern-outbox 1"

    let owner: Owner
    let session: String

    init(owner: Owner, session: String) {
        self.owner = owner
        self.session = session
    }

    /// - Returns: nil for another line.
    init?(_ line: ArraySlice<UInt8>) {
        guard let content = OutboxLine.content(of: line) else { return nil }
        let words = String(decoding: content, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, "\(words[0]) \(words[1])" == Self.title else { return nil }
        self.init(owner: Owner(address: String(words[2]), author: String(words[3])), session: String(words[4]))
    }

    /// The line with its line break.
    var line: [UInt8] {
        OutboxLine.encoded(Array("\(Self.title) \(owner.address) \(owner.author) \(session)".utf8))
    }

    /// Whether a file without a complete line may be an outbox with an incomplete header.
    static func canBegin(_ contents: [UInt8]) -> Bool {
        contents.prefix(8).allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
            && (" " + title + " ").utf8.starts(with: contents.dropFirst(8).prefix(title.utf8.count + 2))
    }
}

/// The complete lines of an outbox file.
struct OutboxLines {
    private let lines: ArraySlice<ArraySlice<UInt8>>
    /// Size of the complete lines in bytes, with their line breaks.
    let length: Int

    init(_ contents: [UInt8]) {
        length = (contents.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        lines = contents[..<length].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    }

    var first: ArraySlice<UInt8>? { lines.first }

    /// The history from the lines after the header.
    func history() throws(OutboxFileError.Cause) -> OutboxHistory {
        var history = OutboxHistory()
        for (place, line) in lines.enumerated().dropFirst() {
            guard let record = OutboxLine.content(of: line).flatMap(OutboxRecord.init) else {
                throw .damaged(line: place + 1)
            }
            history.append(record)
        }
        return history
    }
}

/// An outbox file that cannot be used.
public struct OutboxFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Reason of the error.
    public enum Cause: Error, Sendable, Equatable {
        /// It cannot be opened or read, with the system's message.
        case unreadable(String)
        /// It cannot be written, with the system's message.
        case notWritten(String)
        /// Another process has it open.
        case inUse
        /// It is no outbox.
        case notAnOutbox
        /// It belongs to another room or author, given here.
        case otherOwner(String)
        /// It has another session, given here.
        case otherSession(String)
        /// A line other than an incomplete last one is damaged; lines count from 1.
        case damaged(line: Int)
        /// The plan has other content for this recorded operation number.
        case lessonMismatch(number: Int64)
    }

    /// Path of the file.
    public let path: String
    /// Reason of the error.
    public let cause: Cause

    init(_ path: String, _ cause: Cause) {
        self.path = path
        self.cause = cause
    }

    public var description: String {
        switch cause {
        case .unreadable(let why): "\(path): cannot be opened: \(why)"
        case .notWritten(let why): "\(path): cannot be written: \(why)"
        case .inUse: "\(path): another publisher has this outbox open"
        case .notAnOutbox: "\(path): is not an outbox file; name a new file"
        case .otherOwner(let owner): "\(path): is the outbox of \(owner)"
        case .otherSession(let session): "\(path): has the session \(session)"
        case .damaged(let line): "\(path): line \(line) is damaged"
        case .lessonMismatch(let number):
            "\(path): operation \(number) was published with other content; a new lesson takes a new outbox"
        }
    }
}
