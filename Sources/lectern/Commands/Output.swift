import ArgumentParser
import ConnectionOptions
import Foundation
import NATSClient
import StrokeWire

/// Standard output, unbuffered, so that a reader of a pipe sees each line at once. A command whose results cannot be written
/// ends.
enum StandardOutput {
    static func write(_ line: String) { write(bytes: Array(line.utf8)) }

    /// Writes a line of UTF-8.
    static func write(bytes: [UInt8]) {
        var rest = (bytes + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&output, 1, -1)
            } else if errno != EINTR {
                end(errno)
            }
        }
    }

    private static func end(_ code: Int32) -> Never {
        // The reader is gone. libnats ignores the signal that ends other programs then.
        if code == EPIPE { _exit(128 + SIGPIPE) }
        StandardError.write("lectern: standard output: \(String(cString: strerror(code)))")
        _exit(ExitCode.failed.rawValue)
    }
}

/// A table, one line a row, with columns as wide as their longest cell.
struct TextTable {
    private let rows: [[String]]

    init(_ head: [String], _ rows: [[String]]) {
        self.rows = [head] + rows
    }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }
        .joined(separator: "\n")
    }
}

enum StandardError {
    static func write(_ line: String) {
        // Without `try?` Foundation ends the process where nobody can read it.
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// A file or folder that a command writes.
struct OutputFile {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Writes the whole file, replacing an existing one.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            throw OutputError(path: path, why: "there is no folder \(folder)")
        }
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            throw OutputError(path: path, error)
        }
    }

    /// Makes a folder, with its parents, unless it exists.
    func makeFolder() throws(OutputError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw OutputError(path: path, error)
        }
    }
}

/// A file or folder cannot be written.
struct OutputError: Error, CustomStringConvertible {
    let path: String
    let why: String

    /// One line for a person.
    var description: String { "\(path): cannot be written: \(why)" }
}

extension OutputError {
    init(path: String, _ error: any Error) {
        self.init(path: path, why: SystemError.message(of: error))
    }
}

/// What the system says of an error that Foundation wraps.
enum SystemError {
    static func message(of error: any Error) -> String {
        let wrapped = error as NSError
        let cause = (wrapped.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? wrapped
        guard cause.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(cause.code)))
    }

    /// An error in one line: of Foundation's the file and what the system says.
    static func line(of error: any Error) -> String {
        let wrapped = error as NSError
        guard wrapped.domain == NSCocoaErrorDomain else { return "\(error)" }
        let path = (wrapped.userInfo[NSFilePathErrorKey] as? String).map { "\($0): " } ?? ""
        return path + message(of: error)
    }
}

/// One JSON object on one line, written key by key, for output that has messages byte for byte.
struct JSONLine {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// The finished object.
    var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    mutating func add(_ key: String, _ text: String) {
        addKey(key)
        bytes.append(string: text)
    }

    mutating func add(_ key: String, _ number: some BinaryInteger) {
        addKey(key)
        bytes += String(number).utf8
    }

    /// Adds `true` or `false`.
    mutating func add(_ key: String, _ flag: Bool) {
        addKey(key)
        bytes += (flag ? "true" : "false").utf8
    }

    /// Adds an object with a number for each name, sorted by name.
    mutating func add(_ key: String, _ counts: [String: Int]) {
        var inner = JSONLine()
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) { inner.add(name, count) }
        add(key, json: inner.closed)
    }

    /// Adds a JSON value; line breaks between its tokens become blanks.
    mutating func add(_ key: String, json: [UInt8]) {
        addKey(key)
        for byte in json { bytes.append(byte < 0x20 ? UInt8(ascii: " ") : byte) }
    }

    private mutating func addKey(_ key: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(string: key)
        bytes.append(UInt8(ascii: ":"))
    }
}

extension ExitCode {
    /// The command failed, or found a fault.
    static let failed = ExitCode(1)
    /// Prints why the command failed.
    static func failed(_ why: String) -> ExitCode {
        StandardError.write("lectern: \(why)")
        return failed
    }
    /// A service has not answered yet: all is in the journal, or a list is not whole.
    static let unanswered = ExitCode(3)
}

/// Does some work; prints its error, and ends the command with status 1.
func endingCommand<Value>(_ work: () throws -> Value) throws -> Value {
    do { return try work() } catch { throw error as? ExitCode ?? .failed(SystemError.line(of: error)) }
}

/// As ``endingCommand(_:)``, for work that waits.
func endingCommandAfter<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch { throw error as? ExitCode ?? .failed(SystemError.line(of: error)) }
}

extension ConnectionOptions {
    /// Connects for some work, whose error ends the command.
    /// - Parameter name: see ``ConnectionOptions/connect(as:logger:)``.
    func run<Value>(as name: String, _ work: (NATSConnection) async throws -> Value) async throws -> Value {
        let nats = try await connect(as: name)
        let result: Value
        do {
            result = try await endingCommandAfter { try await work(nats) }
        } catch {
            await nats.close()
            throw error
        }
        await nats.close()
        return result
    }
}
