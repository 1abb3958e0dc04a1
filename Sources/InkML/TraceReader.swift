/// Reads the text of a trace: values, differences, differences of differences, wildcards, booleans and hexadecimal
/// numbers (InkML, 3.2.1).
struct TraceReader {
    /// What is known of one channel.
    private struct State {
        enum Order {
            case value, difference, secondDifference
        }

        var order = Order.value
        var value: Double?
        var velocity: Double?
        var acceleration = 0.0
        /// Whether the last value was `?`.
        var isUnreported: Bool

        init(initial: Double?) {
            value = initial
            isUnreported = initial == nil
        }

        mutating func set(_ number: Double) {
            order = .value
            value = number
            velocity = nil
            isUnreported = false
        }

        /// Takes a number by the order that is in force.
        /// - Returns: what it lacks to be a value; nil where it lacks nothing.
        mutating func take(_ number: Double) -> String? {
            switch order {
            case .value: set(number)
            case .difference:
                guard let value, !isUnreported else { return "difference without a value" }
                (self.value, velocity, acceleration) = (value + number, number, 0)
            case .secondDifference:
                guard let value, let velocity, !isUnreported else { return "second difference without a difference" }
                (self.value, self.velocity, acceleration) = (value + velocity + number, velocity + number, number)
            }
            return nil
        }

        /// Keeps the value, or what it changes by.
        mutating func advance() {
            guard let value, !isUnreported else { return }
            if order == .secondDifference { velocity = (velocity ?? 0) + acceleration }
            if order != .value { self.value = value + (velocity ?? 0) }
        }
    }

    /// Bytes of a number at most.
    private static let longestNumber = 512

    private let text: [UInt8]
    private let firstLine: Int
    private let channels: [Channel]
    private let regularCount: Int
    private var position = 0

    init(_ element: XMLElement, _ format: TraceFormat) {
        text = element.text
        firstLine = element.line
        channels = format.channels
        regularCount = format.regular.count
    }

    /// Reads all points.
    ///
    /// - Parameters:
    ///   - limit: the number of points at most.
    ///   - body: gets the values of each point in the order of the channels; NaN where a value is not reported.
    mutating func forEachPoint(atMost limit: Int, _ body: ([Double]) throws(InkMLError) -> Void) throws(InkMLError) {
        var states = channels.map { State(initial: $0.initial) }
        var values = [Double](repeating: .nan, count: channels.count)
        var points = 0
        skipBlanks()
        while position < text.count {
            points += 1
            guard points <= limit else {
                throw InkMLError(.tooLarge, line: line, "A stroke or the file has too many points.")
            }
            var count = 0
            while position < text.count, text[position] != UInt8(ascii: ",") {
                guard count < channels.count else {
                    throw fault("Point \(points) has more than \(channels.count) values")
                }
                try readValue(channels[count], &states[count], point: points)
                count += 1
                skipBlanks()
            }
            guard count >= regularCount else {
                throw fault("Point \(points) has \(count) of \(regularCount) values")
            }
            // What is left out goes on as with a wildcard.
            for left in count..<channels.count { states[left].advance() }
            for place in channels.indices {
                let value = states[place].isUnreported ? nil : states[place].value
                guard value?.isFinite ?? true else { throw fault("Point \(points) has a value that is too large") }
                values[place] = value ?? .nan
            }
            try body(values)
            // After the comma of the last point there may be nothing.
            position += 1
            skipBlanks()
        }
    }

    private mutating func readValue(_ channel: Channel, _ state: inout State, point: Int) throws(InkMLError) {
        var isPrefixed = true
        switch text[position] {
        case UInt8(ascii: "*"):
            position += 1
            return state.advance()
        case UInt8(ascii: "?"):
            position += 1
            state.isUnreported = true
            return
        case UInt8(ascii: "T"), UInt8(ascii: "F"):
            guard channel.kind == .boolean else {
                throw fault("Point \(point) has a boolean in the channel \(channel.name.debugDescription)")
            }
            state.set(text[position] == UInt8(ascii: "T") ? 1 : 0)
            position += 1
            return
        case UInt8(ascii: "!"): state.order = .value
        case UInt8(ascii: "'"): state.order = .difference
        case UInt8(ascii: "\""): state.order = .secondDifference
        default: isPrefixed = false
        }
        if isPrefixed {
            position += 1
            skipBlanks()
        }
        let start = position
        let number = try number(point)
        guard position - start <= Self.longestNumber else {
            throw fault("Point \(point) has a number that is too long")
        }
        if let missing = state.take(number) { throw fault("Point \(point) has a \(missing) before it") }
    }

    private mutating func number(_ point: Int) throws(InkMLError) -> Double {
        var isNegative = false
        if let sign = byte, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            position += 1
            skipBlanks()
        }
        let size: Double?
        if byte == UInt8(ascii: "#") {
            position += 1
            size = hexadecimal()
        } else {
            size = decimal()
        }
        guard let size, size.isFinite else { throw fault("Point \(point) has no number where one is due") }
        return isNegative ? -size : size
    }

    /// At most 13 digits, which a double holds exactly.
    private mutating func hexadecimal() -> Double? {
        let start = position
        var value: UInt64 = 0
        while let digit = byte.flatMap({ Character(UnicodeScalar($0)).hexDigitValue }), position - start < 13 {
            value = value << 4 | UInt64(digit)
            position += 1
        }
        return position > start && byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue } == nil
            ? Double(value) : nil
    }

    /// Digits with a point among, before or after them, and an exponent.
    private mutating func decimal() -> Double? {
        let start = position
        skipDigits()
        let whole = position - start
        var fraction = 0
        if byte == UInt8(ascii: ".") {
            position += 1
            let first = position
            skipDigits()
            fraction = position - first
        }
        guard whole + fraction > 0 else { return nil }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            position += 1
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") { position += 1 }
            let first = position
            skipDigits()
            guard position > first else { return nil }
        } else if whole + fraction <= 15 {
            return exact(text[start..<position], decimals: fraction)
        }
        return Double(String(decoding: text[start..<position], as: UTF8.self))
    }

    /// A number of few digits: the quotient of two that a double holds exactly is the nearest one (Clinger, 1990).
    private func exact(_ digits: ArraySlice<UInt8>, decimals: Int) -> Double {
        var mantissa: UInt64 = 0
        for digit in digits where digit != UInt8(ascii: ".") {
            mantissa = mantissa * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return Double(mantissa) / Self.powersOfTen[decimals]
    }

    private static let powersOfTen: [Double] = (0...15).reduce(into: [1.0]) { powers, _ in
        powers.append(powers[powers.count - 1] * 10)
    }

    private var byte: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipDigits() {
        while let digit = byte, UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit { position += 1 }
    }

    private mutating func skipBlanks() {
        while let blank = byte, blank == 0x20 || blank == 0x9 || blank == 0xa || blank == 0xd { position += 1 }
    }

    private func fault(_ message: String) -> InkMLError {
        var found = "the end"
        if let byte {
            let rest = String(decoding: text[position...].prefix(24).prefix { $0 >= 0x20 }, as: UTF8.self)
            found = byte >= 0x20 ? rest.debugDescription : "a line break"
        }
        return InkMLError(.badTrace, line: line, "\(message), at \(found).")
    }

    private var line: Int {
        firstLine + text[..<min(position, text.count)].count { $0 == UInt8(ascii: "\n") }
    }
}
