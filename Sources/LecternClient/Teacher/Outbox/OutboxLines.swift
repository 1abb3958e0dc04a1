/// The whole lines of an outbox file.
struct OutboxLines {
    private let lines: ArraySlice<ArraySlice<UInt8>>
    /// Bytes of the whole lines with their line breaks.
    let length: Int

    init(_ contents: [UInt8]) {
        length = (contents.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        lines = contents[..<length].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    }

    var first: ArraySlice<UInt8>? { lines.first }

    /// The fold of all lines after the first.
    func history() throws(OutboxFileError.Cause) -> OutboxHistory {
        var history = OutboxHistory()
        for (place, line) in lines.enumerated().dropFirst() {
            guard let record = OutboxLine.content(of: line).flatMap(OutboxRecord.init) else {
                throw .damaged(line: place + 1)
            }
            history.append(record)
        }
        return history
    }
}
