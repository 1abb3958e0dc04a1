import Foundation

enum StandardError {
    static func write(_ line: String) {
        // Without `try?` Foundation ends the process where nobody can read it.
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// Standard input or output does not go on.
struct StreamFailure: Error, CustomStringConvertible {
    let description: String

    /// The reason is in `errno`.
    init(_ stream: String) { description = "standard \(stream): \(String(cString: strerror(errno)))" }
}

/// Standard input, read in what pieces it comes.
enum StandardInput {
    /// Waits for input. Returns how many bytes there are; nil at the end.
    static func read(into buffer: inout [UInt8]) throws -> Int? {
        while true {
            let count = buffer.withUnsafeMutableBytes { Foundation.read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { return count }
            if count == 0 { return nil }
            guard errno == EINTR else { throw StreamFailure("input") }
        }
    }
}

/// Standard output of a stream.
struct StampOutput {
    /// What is to be written next.
    var bytes: [UInt8] = []

    /// Writes and empties `bytes`.
    mutating func flush() throws(StreamFailure) {
        var start = 0
        while start < bytes.count {
            let written = bytes.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            if written > 0 {
                start += written
            } else if errno != EINTR {
                throw StreamFailure("output")
            }
        }
        bytes.removeAll(keepingCapacity: true)
    }
}
