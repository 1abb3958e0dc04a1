internal import Foundation

/// A file of lines, each with a checksum as `OutboxLine` writes it, which is appended to.
///
/// Written lines survive the end of the process, but not always a loss of power. Locked (`flock`) from opening until
/// deinitialization. For one task at a time.
package final class LineFile {
    package let path: String
    private let file: FileHandle

    /// Opens or creates it.
    /// - Throws: `.unreadable`, `.inUse`.
    package init(path: String) throws(OutboxFileError) {
        self.path = path
        file = try Self.openLocked(path)
    }

    deinit { try? file.close() }

    /// All that is in it.
    /// - Parameter limit: bytes that are read at most; more are `.unreadable`.
    package func contents(limit: Int = .max) throws(OutboxFileError) -> [UInt8] {
        do {
            let size = try file.seekToEnd()
            guard size <= limit else { throw OutboxFileError(path, .unreadable("it has more than \(limit) bytes")) }
            try file.seek(toOffset: 0)
            return Array(try file.readToEnd() ?? Data())
        } catch let error as OutboxFileError {
            throw error
        } catch {
            throw OutboxFileError(path, .unreadable(error.localizedDescription))
        }
    }

    /// Appends bytes. The operating system has them when this returns.
    package func append(_ bytes: [UInt8]) throws(OutboxFileError) {
        do {
            try file.write(contentsOf: Data(bytes))
        } catch {
            throw OutboxFileError(path, .notWritten(error.localizedDescription))
        }
    }

    /// Drops what is behind a length; the next bytes are appended there.
    package func cut(to length: Int) throws(OutboxFileError) {
        do {
            try file.truncate(atOffset: UInt64(length))
            try file.seekToEnd()
        } catch {
            throw OutboxFileError(path, .notWritten(error.localizedDescription))
        }
    }

    /// Takes the place of another file. A loss of power leaves one of them whole.
    package func replace(_ other: String) throws(OutboxFileError) {
        do {
            try file.synchronize()
        } catch {
            throw OutboxFileError(path, .notWritten(error.localizedDescription))
        }
        guard rename(path, other) == 0 else {
            throw OutboxFileError(other, .notWritten(String(cString: strerror(errno))))
        }
    }

    private static func openLocked(_ path: String) throws(OutboxFileError) -> FileHandle {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw OutboxFileError(path, .unreadable(String(cString: strerror(errno)))) }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw OutboxFileError(path, .inUse) }
            // Another file may have taken its place before it was locked.
            var (opened, named) = (stat(), stat())
            if fstat(descriptor, &opened) == 0, stat(path, &named) == 0, opened.st_ino == named.st_ino { return file }
        }
    }
}

package struct OutboxLines {
    package let lines: ArraySlice<ArraySlice<UInt8>>
    /// Size of the complete lines in bytes, with their line breaks.
    package let length: Int

    package init(_ contents: [UInt8]) {
        length = (contents.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        lines = contents[..<length].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    }

    package var first: ArraySlice<UInt8>? { lines.first }
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

    package init(_ path: String, _ cause: Cause) { (self.path, self.cause) = (path, cause) }

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
