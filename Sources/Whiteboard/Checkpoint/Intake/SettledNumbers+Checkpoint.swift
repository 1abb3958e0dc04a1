import StrokeWire

extension CheckpointWriter {
    mutating func write(_ settled: SettledNumbers) {
        write(settled.insertions)
        var last: Int64 = 0
        write(list: settled.entries) { writer, entry in
            writer.write(UInt64(bitPattern: entry.from - last))
            writer.write(UInt64(bitPattern: entry.to - entry.from))
            last = entry.to
            writer.write(settled.insertions - entry.age)
            writer.write(entry.reason)
        }
    }

    private mutating func write(_ reason: SettledNumbers.Reason) {
        switch reason {
        case .gaveUp(let head):
            write(false)
            write(head)
        case .rejected(let rejection):
            write(true)
            write(rejection.code.rawValue)
            write(optional: rejection.field) { $0.write($1) }
            write(rejection.message)
        }
    }
}

extension CheckpointReader {
    mutating func settledNumbers() throws(CheckpointError) -> SettledNumbers {
        let insertions = try number()
        var entries: [SettledNumbers.Entry] = []
        for _ in 0..<(try count()) {
            let last = entries.last?.to
            let from = (last ?? 0) + (try countNumber())
            let to = from + (try countNumber())
            let age = try number()
            try require(from > last ?? -1 && to <= Int64(CheckpointFormat.numberBound) && age <= insertions)
            entries.append(
                SettledNumbers.Entry(from: from, to: to, reason: try settledReason(), age: insertions - age))
        }
        return SettledNumbers(entries, insertions: insertions)
    }

    private mutating func settledReason() throws(CheckpointError) -> SettledNumbers.Reason {
        guard try flag() else { return .gaveUp(head: try number()) }
        guard let code = RejectionCode(rawValue: try text()) else { throw damaged }
        let field = try optional { (reader) throws(CheckpointError) in try reader.text() }
        return .rejected(Rejection(code: code, field: field, message: try text()))
    }
}
