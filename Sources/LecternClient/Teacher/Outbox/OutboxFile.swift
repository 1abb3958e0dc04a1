internal import Foundation
public import StrokeWire

/// A file of what a publisher sent and of what became of it, so that the next run of the publisher goes on from there.
///
/// Append-only: a line for each message before it is first sent, for each acknowledgement and for each settled
/// operation. It grows with what is published and is for the caller to remove. What the process wrote survives its end
/// at any moment, but not necessarily a loss of power. A last line that is not whole was never acted upon and is cut off.
///
/// Locked (`flock`) from opening until the value goes away. For one task at a time.
public final class OutboxFile {
    /// The path it was opened with.
    public let path: String
    /// Names the count of operations, in this run and in those before.
    public let session: String
    /// What the runs before did.
    public let history: OutboxHistory
    private let file: FileHandle

    /// Opens a file, or makes one.
    ///
    /// - Parameters:
    ///   - session: names the count of a new file; for one that is there it must be the same or nil.
    /// - Throws: `OutboxFileError`, also where the file is another room's or author's, or another process's.
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
                guard OutboxHeader.canBegin(contents) else { throw .foreign }
                self.session = session ?? Teacher.newSession()
                history = OutboxHistory()
                try file.rewrite(OutboxHeader(owner: owner, session: self.session).line)
                return
            }
            guard let header = OutboxHeader(first) else { throw .foreign }
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

    /// Writes records at the end of the file; they are with the operating system when this returns.
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
