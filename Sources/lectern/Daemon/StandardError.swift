import Foundation

/// Lines for a person, beside what a command puts out.
enum StandardError {
    static func write(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
