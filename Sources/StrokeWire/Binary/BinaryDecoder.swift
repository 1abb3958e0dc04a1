/// Decodes a message of the usual keys from its packed numbers, point by point into the caller's memory.
struct BinaryDecoder {
    private let keys: MessageKeys
    private var reader: NibbleReader
    private let isComplete: Bool
    private var hasDecimals = false

    /// - Parameter range: the place of the numbers in `bytes`.
    init(_ keys: MessageKeys, _ bytes: [UInt8], in range: Range<Int>) {
        self.keys = keys
        reader = NibbleReader(bytes, in: range)
        isComplete = Self.isComplete(keys, reader)
    }

    /// Whether there are as many numbers as there have to be.
    private static func isComplete(_ keys: MessageKeys, _ reader: NibbleReader) -> Bool {
        var (reader, count) = (reader, reader.count)
        guard count >= 2 else { return false }
        let points = reader.read()
        let outside = 1 + keys.intersection(.outside).rawValue.nonzeroBitCount
        let needed = 2 + (reader.read() > 0 ? 2 : 1) * outside
        let columns = keys.columnCount
        count -= needed + 2 * columns
        return count >= 0 && points <= UInt64(count / max(1, columns)) && (columns > 0 || points == 0)
    }

    /// - Returns: nil where a field is not within its limits, is no integer where it has to be one, or numbers are missing;
    ///   `points` may have some then.
    mutating func decode(_ limits: WireLimits, into points: inout [StrokePoint]) -> StrokeMessage? {
        guard isComplete else { return nil }
        let count = Int(reader.read())
        hasDecimals = reader.read() > 0
        guard let number = integer(), number >= 0 else { return nil }
        var message = StrokeMessage(number: number)
        guard readFields(limits, into: &message) else { return nil }
        if keys.contains(.points) {
            guard message.action == .draw, count <= limits.points, count > 0 || message.isSharded else { return nil }
            message.points = PointArray(count: count, interior: 0..<0)
            guard readPoints(count, into: &points) else { return nil }
        } else if message.action == .draw {
            return nil
        }
        return reader.isAtEnd ? message : nil
    }

    private mutating func readFields(_ limits: WireLimits, into message: inout StrokeMessage) -> Bool {
        if keys.contains(.colour) {
            guard let colour = integer(), limits.colours.contains(colour), let value = UInt32(exactly: colour) else {
                return false
            }
            message.colour = value
        }
        if keys.contains(.width) {
            guard let width = number(), width > 0, width <= 512 else { return false }
            message.width = width
        }
        if keys.contains(.shardCount) {
            guard let shards = integer(), 0 <= shards, shards <= Int64(limits.shards) else { return false }
            message.shardCount = Int(shards)
        }
        if keys.contains(.shardOrder) {
            guard let order = integer(), 0 <= order, order <= Int64(message.shardCount) else { return false }
            message.shardOrder = Int(order)
        }
        if keys.contains(.element) {
            // All others have keys or bounds of their own: they are judged as JSON.
            guard let value = integer(), let element = UInt8(exactly: value).flatMap(Element.init), element.isStroke,
                element.isOffered(by: limits.features)
            else { return false }
            message.element = element
        }
        if keys.contains(.action) {
            guard let value = integer(), let action = value == 0 ? .draw : UInt8(exactly: value).flatMap(Action.init),
                action.rawValue <= Action.clear.rawValue
            else { return false }
            message.action = action
        }
        if keys.contains(.time) {
            guard let time = integer() else { return false }
            message.time = time
        }
        if keys.contains(.boardWidth) {
            guard let width = number(), 1 <= width, width <= 16384 else { return false }
            message.boardWidth = width
        }
        if keys.contains(.boardHeight) {
            guard let height = number(), 1 <= height, height <= 16384 else { return false }
            message.boardHeight = height
        }
        return true
    }

    /// The next number outside the points, nil where it has a fraction.
    private mutating func integer() -> Int64? {
        guard !hasDecimals || reader.read() == 0 else { return nil }
        let value = reader.readSigned()
        return value.magnitude <= DecimalText.greatestMantissa ? value : nil
    }

    /// The next number outside the points.
    private mutating func number() -> Double? {
        let decimals = hasDecimals ? reader.read() : 0
        let value = reader.readSigned()
        guard decimals <= UInt64(DecimalText.maximumDigits), value.magnitude <= DecimalText.greatestMantissa else {
            return nil
        }
        // Both operands are exact: the quotient is the double nearest to the decimal number.
        return Double(value) / PowersOfTen.doubles[Int(decimals)]
    }

    private mutating func readPoints(_ count: Int, into points: inout [StrokePoint]) -> Bool {
        guard let x = column(), let y = column() else { return false }
        var columns = (x, y)
        guard keys.isDisjoint(with: .pen) else { return readPenPoints(count, columns, into: &points) }
        points.reserveCapacity(count)
        for _ in 0..<count {
            let point = StrokePoint(x: columns.0.read(from: &reader), y: columns.1.read(from: &reader))
            guard point.isOnBoard else { return false }
            points.append(point)
        }
        return columns.0.isExact && columns.1.isExact
    }

    /// Reads points with force, angles or times.
    private mutating func readPenPoints(
        _ count: Int, _ places: (Column, Column), into points: inout [StrokePoint]
    ) -> Bool {
        var columns = places
        var pen: [(key: MessageKeys, column: Column)] = []
        for key in [MessageKeys.force, .altitude, .azimuth, .milliseconds] where keys.contains(key) {
            guard let column = column() else { return false }
            pen.append((key, column))
        }
        points.reserveCapacity(count)
        for _ in 0..<count {
            var point = StrokePoint(x: columns.0.read(from: &reader), y: columns.1.read(from: &reader))
            guard point.isOnBoard else { return false }
            for position in pen.indices {
                let value = pen[position].column.read(from: &reader)
                switch pen[position].key {
                case .force: point.storedForce = min(max(value, 0), 1)
                case .altitude: point.storedAltitude = value
                case .azimuth: point.storedAzimuth = value
                default: point.storedMilliseconds = value
                }
            }
            points.append(point)
        }
        return columns.0.isExact && columns.1.isExact && pen.allSatisfy { $0.column.isExact }
    }

    private mutating func column() -> Column? { Column(from: &reader) }
}

/// A column of points, read as doubles.
private struct Column {
    private var numbers: PointColumn
    private let divisor: Double

    init?(from reader: inout NibbleReader) {
        numbers = PointColumn(from: &reader)
        guard numbers.decimals <= DecimalText.maximumDigits else { return nil }
        divisor = PowersOfTen.doubles[numbers.decimals]
    }

    var isExact: Bool { numbers.isExact }

    @inline(__always)
    mutating func read(from reader: inout NibbleReader) -> Double {
        Double(numbers.readMantissa(from: &reader)) / divisor
    }
}

extension MessageKeys {
    /// Those outside the points, besides `n`.
    fileprivate static let outside = MessageKeys(rawValue: 1 << 9 - 1)
    fileprivate static let pen: MessageKeys = [.force, .altitude, .azimuth, .milliseconds]

    fileprivate var columnCount: Int {
        contains(.points) ? 2 + intersection(.pen).rawValue.nonzeroBitCount : 0
    }
}

extension StrokePoint {
    fileprivate var isOnBoard: Bool { x.magnitude <= 65536 && y.magnitude <= 65536 }
}
