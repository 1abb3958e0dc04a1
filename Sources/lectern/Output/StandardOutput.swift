import Foundation

/// Standard output, line by line and unbuffered, so that whoever reads a pipe sees each line at once.
enum StandardOutput {
    /// Writes a line.
    static func write(_ line: String) { write(bytes: Array(line.utf8)) }

    /// Writes a line of UTF-8.
    static func write(bytes: [UInt8]) {
        // A reader that went away ends the command by SIGPIPE; there is nobody else to tell.
        try? FileHandle.standardOutput.write(contentsOf: Data(bytes + [UInt8(ascii: "\n")]))
    }
}
