/// Why an outbox file cannot be used.
public struct OutboxFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Cause: Error, Sendable, Equatable {
        /// What the system says to opening or reading it.
        case unreadable(String)
        /// What the system says to writing it.
        case notWritten(String)
        /// Another process has it open.
        case inUse
        /// It is something else than an outbox.
        case foreign
        /// It belongs to another room or author.
        case otherOwner(String)
        /// It has another session than the one asked for.
        case otherSession(String)
        /// A line of it, from 1, that is not the last is damaged.
        case damaged(line: Int)
        /// The operation of this number in it is another than the one to be published.
        case otherLesson(number: Int64)
    }

    /// The file.
    public let path: String
    /// What is wrong with it.
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
        case .foreign: "\(path): is no outbox of a publisher; name a new file"
        case .otherOwner(let owner): "\(path): is the outbox of \(owner)"
        case .otherSession(let session): "\(path): has the session \(session)"
        case .damaged(let line): "\(path): line \(line) is damaged"
        case .otherLesson(let number):
            "\(path): operation \(number) was published with other content; a new lesson takes a new outbox"
        }
    }
}
