extension JSONScanner {
    /// Takes an array of points: checks and counts them, and hands those out that are as they have to be.
    /// - Returns: where they lie, and the first that is not as it has to be.
    @inline(__always)
    mutating func takePoints(
        _ text: borrowing Span<UInt8>, into sink: inout some PointSink
    ) throws(JSONFault) -> (points: PointArray, fault: PointFault?) {
        sink.begin(atMost: (text.count &- position) / PointArray.leastPointBytes &+ 1)
        var fault: PointFault?
        var count = 0
        let open = position
        var more = try enterArray(text)
        // Without points there is nothing between the brackets that counts.
        var interior = (open &+ 1)..<(open &+ 1)
        if more { interior = position..<position }
        while more {
            if let point = takePlainPoint(text) {
                sink.add(point)
            } else {
                let reading = try takePoint(text)
                if let reading, let point = StrokePoint(reading) {
                    sink.add(point)
                } else if fault == nil {
                    fault = PointFault(index: count, problem: reading?.problem ?? .notAnObject)
                }
            }
            count &+= 1
            interior = interior.lowerBound..<position
            more = try continueArray(text)
        }
        return (PointArray(count: count, interior: interior), fault)
    }

    /// Takes an element of a point array.
    /// - Returns: nil where it is no object.
    mutating func takePoint(_ text: borrowing Span<UInt8>) throws(JSONFault) -> PointReading? {
        guard next(text) == UInt8(ascii: "{") else {
            _ = try takeValue(text)
            return nil
        }
        var reading = PointReading()
        var more = try enterObject(text)
        while more {
            let key = try takePointKey(text)
            if PointReading.isMember(key) {
                reading.set(key, try takePointValue(text))
            } else {
                _ = try takeValue(text)
            }
            more = try continueObject(text)
        }
        return reading
    }

    /// Takes a key of a point and its colon.
    /// - Returns: the key where it is a single letter, else 0.
    @inline(__always)
    private mutating func takePointKey(_ text: borrowing Span<UInt8>) throws(JSONFault) -> UInt8 {
        // Nearly all keys stand there as one plain letter: no need to walk over them as strings.
        if next(text) == UInt8(ascii: "\""), peek(text, 2) == UInt8(ascii: "\""), PointReading.isMember(peek(text, 1)) {
            let key = peek(text, 1)
            position &+= 3
            try takeColon(text)
            return key
        }
        let key = try takeKey(text)
        return JSONText.letter(key, of: text) ?? 0
    }

    @inline(__always)
    private mutating func takePointValue(_ text: borrowing Span<UInt8>) throws(JSONFault) -> PointValue {
        switch next(text) {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try takeNumber(text).doubleValue(text))
        default:
            if case .number(let number) = try takeValue(text) { return .number(number.doubleValue(text)) }
            return .other
        }
    }
}
