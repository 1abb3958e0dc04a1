import Foundation

/// Lines on standard error for those who wait.
enum Progress {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    /// Ten lines from nothing to all.
    static func say(_ done: Int, of all: Int, _ what: String) {
        guard done == all || done.isMultiple(of: max(1, all / 10)) else { return }
        say("\(done) of \(all) \(what)")
    }
}
