extension PointArray {
    /// Decodes the points one by one without storing them. Force is clamped to 0 … 1.
    /// - Parameters:
    ///   - bytes: the message that this array was decoded from. In any other text decoding stops at the first fault.
    ///   - body: called with each point, first to last, before this returns.
    public func forEachPoint(of bytes: [UInt8], _ body: (StrokePoint) -> Void) {
        forEachPoint(in: bytes.span, body)
    }

    func forEachPoint(in message: borrowing Span<UInt8>, _ body: (StrokePoint) -> Void) {
        let text = message.extracting(first: min(interior.upperBound, message.count))
        // The bracket is outside of the interior: the scanner starts at the first element.
        var scanner = JSONScanner(at: interior.lowerBound, depth: 2, maximumDepth: JSONScanner.messageDepth)
        var hasMore = interior.lowerBound < text.count
        while hasMore {
            if let point = scanner.takeCompactPoint(text, needsValues: true) {
                body(point)
            } else {
                guard let fields = try? scanner.takePoint(text, needsValues: true), let point = StrokePoint(fields)
                else {
                    return
                }
                body(point)
            }
            scanner.skipWhiteSpace(text)
            hasMore = scanner.take(UInt8(ascii: ","), text)
            scanner.skipWhiteSpace(text)
        }
    }

    /// All points.
    /// - Parameter bytes: the message that this array was decoded from.
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] {
        var points: [StrokePoint] = []
        // Not more than the bytes can hold: a count made by hand may be wrong.
        points.reserveCapacity(max(0, min(count, bytes.count / Self.leastPointBytes + 1)))
        forEachPoint(of: bytes) { points.append($0) }
        return points
    }

    /// `{"x":1,"y":1},`
    fileprivate static var leastPointBytes: Int { 14 }
}

extension StrokeMessage {
    /// All points of the message.
    /// - Parameter bytes: those from which this message was decoded.
    public func decodePoints(of bytes: [UInt8]) -> [StrokePoint] { points.decodePoints(of: bytes) }
}

/// Receives the points of a message while it is decoded.
protocol PointSink {
    /// Whether the values are used. If not, they are the substitutes of ``JSONNumber/rangeCheckValue(_:)``.
    static var keepsPoints: Bool { get }
    /// Starts another array of at most `count` points; the points before it are void.
    mutating func begin(atMost count: Int)
    mutating func add(_ point: StrokePoint)
}

/// Ignores the points: they stay in the message's bytes.
struct NoPoints: PointSink {
    static var keepsPoints: Bool { false }

    @inline(__always) func begin(atMost count: Int) {}
    @inline(__always) func add(_ point: StrokePoint) {}
}

extension [StrokePoint]: PointSink {
    static var keepsPoints: Bool { true }

    @inline(__always)
    mutating func begin(atMost count: Int) {
        removeAll(keepingCapacity: true)
        reserveCapacity(count)
    }

    @inline(__always)
    mutating func add(_ point: StrokePoint) { append(point) }
}

extension JSONScanner {
    /// Takes an array of points: checks and counts them, and adds the valid ones before the first invalid one to the
    /// sink. The elements after that one only have to be well-formed.
    /// - Returns: the place of the points, and the first invalid one.
    @inline(__always)
    mutating func takePoints<Sink: PointSink>(
        _ text: borrowing Span<UInt8>, into sink: inout Sink
    ) throws(JSONFault) -> (points: PointArray, fault: PointFault?) {
        sink.begin(atMost: (text.count &- position) / PointArray.leastPointBytes &+ 1)
        var count = 0
        let open = position
        var more = try enterArray(text)
        // Without points the interior is empty: white space does not count.
        var interior = (open &+ 1)..<(open &+ 1)
        if more { interior = position..<position }
        while more {
            if let point = takeCompactPoint(text, needsValues: Sink.keepsPoints) {
                sink.add(point)
            } else {
                let fields = try takePoint(text, needsValues: Sink.keepsPoints)
                guard let fields, let point = StrokePoint(fields) else {
                    let fault = PointFault(index: count, problem: fields?.problem ?? .notAnObject)
                    let rest = try takeElements(text)
                    return (PointArray(count: count + 1 + rest, interior: interior.lowerBound..<position), fault)
                }
                sink.add(point)
            }
            count &+= 1
            interior = interior.lowerBound..<position
            more = try continueArray(text)
        }
        return (PointArray(count: count, interior: interior), nil)
    }

    /// Takes the remaining elements of an array.
    /// - Returns: their number.
    private mutating func takeElements(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Int {
        var count = 0
        while try continueArray(text) {
            _ = try takeValue(text)
            count += 1
        }
        return count
    }

    /// Takes an element of a point array.
    /// - Parameter needsValues: whether the values are used, or only checked against their ranges.
    /// - Returns: nil if it is not an object.
    fileprivate mutating func takePoint(
        _ text: borrowing Span<UInt8>, needsValues: Bool
    ) throws(JSONFault) -> PointFields? {
        guard next(text) == UInt8(ascii: "{") else {
            _ = try takeValue(text)
            return nil
        }
        var fields = PointFields()
        var more = try enterObject(text)
        while more {
            let key = try takePointKey(text)
            if PointFields.isMember(key) {
                fields.set(key, try takePointValue(text, needsValues: needsValues))
            } else {
                _ = try takeValue(text)
            }
            more = try continueObject(text)
        }
        return fields
    }

    /// Takes a key of a point and its colon.
    /// - Returns: the key if it is a single letter, else 0.
    @inline(__always)
    private mutating func takePointKey(_ text: borrowing Span<UInt8>) throws(JSONFault) -> UInt8 {
        // Fast path: nearly all keys are one plain letter.
        if next(text) == UInt8(ascii: "\""), peek(text, 2) == UInt8(ascii: "\""), PointFields.isMember(peek(text, 1)) {
            let key = peek(text, 1)
            position &+= 3
            try takeColon(text)
            return key
        }
        let key = try takeKey(text)
        return JSONText.letter(key, of: text) ?? 0
    }

    @inline(__always)
    private mutating func takePointValue(
        _ text: borrowing Span<UInt8>, needsValues: Bool
    ) throws(JSONFault) -> PointFields.Value {
        switch next(text) {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let number = try takeNumber(text)
            return .number(needsValues ? number.doubleValue(text) : number.rangeCheckValue(text))
        default:
            _ = try takeValue(text)
            return .other
        }
    }

    /// Fast path of ``takePoint(_:needsValues:)``: takes a valid point without white space and without unknown members.
    /// - Parameter needsValues: whether the values are used, or only checked against their ranges.
    /// - Returns: nil for any other point; then nothing has been taken.
    @inline(__always)
    fileprivate mutating func takeCompactPoint(_ text: borrowing Span<UInt8>, needsValues: Bool) -> StrokePoint? {
        // Local variables stay in registers; a `PointFields` does not.
        var (x, y) = (Double.nan, Double.nan)
        var (force, altitude, azimuth, milliseconds) = (Double.nan, Double.nan, Double.nan, Double.nan)
        var scanner = self
        var separator = UInt8(ascii: "{")
        repeat {
            guard scanner.next(text) == separator, scanner.peek(text, 1) == UInt8(ascii: "\""),
                scanner.peek(text, 3) == UInt8(ascii: "\""), scanner.peek(text, 4) == UInt8(ascii: ":")
            else { return nil }
            let key = scanner.peek(text, 2)
            scanner.position &+= 5
            guard let number = try? scanner.takeNumber(text) else { return nil }
            let value = needsValues ? number.doubleValue(text) : number.rangeCheckValue(text)
            guard value.isFinite else { return nil }
            switch key {
            case UInt8(ascii: "x"): x = value
            case UInt8(ascii: "y"): y = value
            case UInt8(ascii: "f"): force = value
            case UInt8(ascii: "i"): altitude = value
            case UInt8(ascii: "z"): azimuth = value
            case UInt8(ascii: "m"): milliseconds = value
            default: return nil
            }
            separator = UInt8(ascii: ",")
        } while scanner.next(text) != UInt8(ascii: "}")
        // A missing coordinate is NaN and fails both comparisons.
        guard x.magnitude <= PointFields.bound, y.magnitude <= PointFields.bound else { return nil }
        position = scanner.position &+ 1
        var point = StrokePoint(x: x, y: y)
        point.storedForce = StrokePoint.clamped(force: force)
        point.storedAltitude = altitude
        point.storedAzimuth = azimuth
        point.storedMilliseconds = milliseconds
        return point
    }
}

/// The members of one point; of a repeated key the last one.
private struct PointFields {
    /// The value of a member.
    enum Value {
        case absent
        /// Present, but not a number.
        case other
        /// May be infinite.
        case number(Double)

        var number: Double? {
            if case .number(let number) = self { number } else { nil }
        }

        /// Whether an optional member may have this value.
        @inline(__always)
        var isFiniteOrAbsent: Bool {
            switch self {
            case .absent: true
            case .other: false
            case .number(let number): number.isFinite
            }
        }
    }

    /// Largest magnitude of a coordinate.
    static var bound: Double { 65536 }

    private(set) var x = Value.absent
    private(set) var y = Value.absent
    private(set) var force = Value.absent
    private(set) var altitude = Value.absent
    private(set) var azimuth = Value.absent
    private(set) var milliseconds = Value.absent

    /// Whether `key` is one of the members.
    @inline(__always)
    static func isMember(_ key: UInt8) -> Bool {
        switch key {
        case UInt8(ascii: "x"), UInt8(ascii: "y"), UInt8(ascii: "f"), UInt8(ascii: "i"), UInt8(ascii: "z"),
            UInt8(ascii: "m"):
            true
        default: false
        }
    }

    @inline(__always)
    mutating func set(_ key: UInt8, _ value: Value) {
        switch key {
        case UInt8(ascii: "x"): x = value
        case UInt8(ascii: "y"): y = value
        case UInt8(ascii: "f"): force = value
        case UInt8(ascii: "i"): altitude = value
        case UInt8(ascii: "z"): azimuth = value
        case UInt8(ascii: "m"): milliseconds = value
        default: break
        }
    }

    /// The first fault, in the order x, y, f, i, z, m.
    @inline(__always)
    var problem: PointFault.Problem {
        if case .number(let x) = x, case .number(let y) = y, x.magnitude <= Self.bound, y.magnitude <= Self.bound,
            force.isFiniteOrAbsent, altitude.isFiniteOrAbsent, azimuth.isFiniteOrAbsent, milliseconds.isFiniteOrAbsent
        {
            return .none
        }
        return findProblem()
    }

    private func findProblem() -> PointFault.Problem {
        let members: [(Unicode.Scalar, Value)] = [
            ("x", x), ("y", y), ("f", force), ("i", altitude), ("z", azimuth), ("m", milliseconds),
        ]
        for (key, value) in members {
            let isCoordinate = key == "x" || key == "y"
            switch value {
            case .absent: if isCoordinate { return .missing(key) }
            case .other: return .wrongType(key)
            case .number(let number):
                if isCoordinate, number.magnitude > Self.bound { return .beyondBoard(key) }
                if number.isInfinite { return .infinite(key) }
            }
        }
        return .none
    }
}

extension StrokePoint {
    /// - Returns: nil if the point is invalid.
    fileprivate init?(_ fields: PointFields) {
        guard case .none = fields.problem, let x = fields.x.number, let y = fields.y.number else { return nil }
        self.init(
            x: x, y: y, force: fields.force.number.map(Self.clamped(force:)), altitude: fields.altitude.number,
            azimuth: fields.azimuth.number, milliseconds: fields.milliseconds.number)
    }

    /// Force clamped to 0 … 1; NaN stays NaN.
    @inline(__always)
    fileprivate static func clamped(force: Double) -> Double { min(max(force, 0), 1) }
}

/// The first invalid point of a message.
struct PointFault {
    /// What is wrong with a point.
    enum Problem {
        case none
        case notAnObject
        case missing(Unicode.Scalar)
        case wrongType(Unicode.Scalar)
        case beyondBoard(Unicode.Scalar)
        case infinite(Unicode.Scalar)
    }

    let index: Int
    let problem: Problem

    /// - Parameter array: the name of the array of points.
    func rejection(in array: String) -> Rejection {
        switch problem {
        case .none, .notAnObject: .wrongType("\(array)[\(index)]", "an object")
        case .missing(let key): .missing("\(array)[\(index)].\(key)")
        case .wrongType(let key): .wrongType("\(array)[\(index)].\(key)", "a number")
        case .beyondBoard(let key):
            .outOfRange("\(array)[\(index)].\(key)", "between -65536 and 65536")
        case .infinite(let key): .outOfRange("\(array)[\(index)].\(key)", "a number that a double can hold")
        }
    }
}
