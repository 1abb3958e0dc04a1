import StrokeWire

/// Which messages of a lesson belong together.
enum OperationRuns {
    /// The ranges of messages that are one operation each: a command, a stroke in one message, or the shards of a
    /// stroke, which stand together under one number.
    static func ranges(of headers: [StrokeMessage]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < headers.count {
            let end = end(in: headers, from: start)
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }

    private static func end(in headers: [StrokeMessage], from start: Int) -> Int {
        let first = headers[start]
        guard first.action == .draw, first.isSharded else { return start + 1 }
        return headers[start...].firstIndex { $0.number != first.number || !$0.isSharded } ?? headers.count
    }
}
