internal import ClientCore
internal import ClientRuntime
internal import Foundation
internal import StrokeWire

/// The records of an outbox in a file: lines that are appended, as `OutboxLine` has them, and written anew when most of them are
/// over. What stands between two lines `c` is stored whole or not at all.
struct DrawingLog {
    enum Line: Equatable {
        /// `r SESSION NUMBER BYTES`
        case record(StoredOperation)
        /// `d SESSION NUMBER`
        case deleted(OperationKey)
        /// `w 0`, `w 1`
        case writes(here: Bool)
        /// `c`
        case commit
    }

    /// Bytes of a file at most.
    private static let limit = 512 << 20
    /// Bytes that may be over.
    private static let slack = 1 << 20

    private let path: String
    private let header: [UInt8]
    private var file: LineFile
    /// Bytes of the file, and of the lines of records that are not over.
    private(set) var size = 0
    private var liveSize = 0
    /// Bytes of the file when it could not be written anew.
    private var failedSize = 0
    private var sizes: [OperationKey: Int] = [:]
    private var writesHere = false

    /// Opens or creates a file; cuts off what was not stored whole.
    init(path: String, owner: String) throws(OutboxFileError) {
        self.path = path
        header = OutboxLine.encoded(Array("lectern-drawing 1 \(owner)".utf8))
        file = try LineFile(path: path)
        let contents = try file.contents(limit: Self.limit)
        let lines = OutboxLines(contents)
        guard let first = lines.first else {
            guard header.starts(with: contents) else { throw OutboxFileError(path, .notAnOutbox) }
            try file.cut(to: 0)
            try file.append(header)
            size = header.count
            return
        }
        guard first + [UInt8(ascii: "\n")] == header[...] else {
            let text = OutboxLine.content(of: first).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let title = "lectern-drawing 1 "
            throw OutboxFileError(
                path, text.hasPrefix(title) ? .otherOwner(String(text.dropFirst(title.count))) : .notAnOutbox)
        }
        let (records, length) = try parse(lines)
        for record in records { note(.record(record)) }
        size = length
        try file.cut(to: length)
    }

    /// The records, and whether the author writes here.
    func contents() throws(OutboxFileError) -> (records: [StoredOperation], writesHere: Bool) {
        var log = self
        return (try log.parse(OutboxLines(try file.contents(limit: Self.limit))).records, log.writesHere)
    }

    /// Stores lines, all or nothing. The operating system has them when this returns.
    mutating func append(_ lines: [Line]) throws(OutboxFileError) {
        // What cannot be written anew, as on a full disk, goes on as it is for a while.
        if size > max(2 * liveSize, failedSize) + Self.slack { compact() }
        let bytes = (lines + [.commit]).flatMap { $0.encoded }
        guard size + bytes.count <= Self.limit else {
            throw OutboxFileError(path, .notWritten("it would have more than \(Self.limit) bytes"))
        }
        do throws(OutboxFileError) {
            try file.append(bytes)
        } catch {
            try file.cut(to: size)
            throw error
        }
        size += bytes.count
        for line in lines { note(line) }
    }

    private mutating func note(_ line: Line) {
        switch line {
        case .record(let record):
            let bytes = line.encoded.count
            liveSize += bytes - (sizes.updateValue(bytes, forKey: record.key) ?? 0)
        case .deleted(let key):
            liveSize -= sizes.removeValue(forKey: key) ?? 0
        case .writes(let here):
            writesHere = here
        case .commit:
            break
        }
    }

    /// - Returns: the records after the last commit, and where that ends.
    private mutating func parse(
        _ lines: OutboxLines
    ) throws(OutboxFileError) -> (records: [StoredOperation], length: Int) {
        var records: [OperationKey: StoredOperation] = [:]
        var pending: [Line] = []
        var (end, length) = (header.count, header.count)
        for (place, text) in lines.lines.enumerated().dropFirst() {
            guard let line = OutboxLine.content(of: text).flatMap(Line.init) else {
                throw OutboxFileError(path, .damaged(line: place + 1))
            }
            end += text.count + 1
            guard line == .commit else {
                pending.append(line)
                continue
            }
            for line in pending {
                switch line {
                case .record(let record): records[record.key] = record
                case .deleted(let key): records[key] = nil
                case .writes(let here): writesHere = here
                case .commit: break
                }
            }
            pending = []
            length = end
        }
        return (records.values.sorted { $0.key < $1.key }, length)
    }

    /// Writes what is not over to a new file, which takes the place of this one: whatever ends in between, one of them is whole.
    private mutating func compact() {
        failedSize = size
        guard let records = try? contents().records, let new = try? LineFile(path: path + ".new") else { return }
        var bytes = header
        for line in records.map({ Line.record($0) }) + [.writes(here: writesHere), .commit] {
            bytes.append(contentsOf: line.encoded)
        }
        do throws(OutboxFileError) {
            try new.cut(to: 0)
            try new.append(bytes)
            try new.replace(path)
            (file, size, failedSize) = (new, bytes.count, 0)
        } catch {
            // It would keep the space that the file may need.
            unlink(new.path)
        }
    }
}

extension DrawingLog.Line {
    var encoded: [UInt8] {
        switch self {
        case .record(let record):
            OutboxLine.encoded(Array("r \(record.key.session) \(record.key.number) ".utf8) + record.bytes)
        case .deleted(let key): OutboxLine.encoded(Array("d \(key.session) \(key.number)".utf8))
        case .writes(let here): OutboxLine.encoded(Array("w \(here ? 1 : 0)".utf8))
        case .commit: OutboxLine.encoded([UInt8(ascii: "c")])
        }
    }

    /// - Returns: nil for other content.
    init?(_ content: [UInt8]) {
        // The last field, a record, may contain blanks.
        let fields = content.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        let words = fields.prefix(3).map { String(decoding: $0, as: UTF8.self) }
        let key = words.count > 2 ? Int64(words[2]).map { OperationKey(session: words[1], number: $0) } : nil
        switch (words.first, fields.count, key) {
        case ("r", 4, let key?): self = .record(StoredOperation(key, bytes: Array(fields[3])))
        case ("d", 3, let key?): self = .deleted(key)
        case ("w", 2, _) where words[1] == "0" || words[1] == "1": self = .writes(here: words[1] == "1")
        case ("c", 1, _): self = .commit
        default: return nil
        }
    }
}
