import Foundation

/// A file, or folder, that a command writes.
struct OutputFile {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Writes the whole file, in place of what is there.
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

    /// Makes a folder of that path, with those above it; one that is there stays.
    func makeFolder() throws(OutputError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw OutputError(path: path, error)
        }
    }
}

/// Why something cannot be written.
struct OutputError: Error, CustomStringConvertible {
    let path: String
    let why: String

    init(path: String, why: String) {
        self.path = path
        self.why = why
    }

    /// In the system's words, which Foundation keeps beneath its own.
    init(path: String, _ error: any Error) {
        let cause = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
        if let cause, cause.domain == NSPOSIXErrorDomain {
            self.init(path: path, why: String(cString: strerror(Int32(cause.code))))
        } else {
            self.init(path: path, why: error.localizedDescription)
        }
    }

    /// One line for a person.
    var description: String { "\(path): cannot be written: \(why)" }
}
