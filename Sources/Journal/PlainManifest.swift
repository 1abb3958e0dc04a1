import Hosting

extension CheckpointManifest.Wire {
    /// Reads a manifest as releases write it, member after member. A daemon that opens a partition reads some of each room, and a decoder
    /// takes ten times as long.
    /// - Throws: for all else, which a decoder has to read.
    init(plain text: ArraySlice<UInt8>) throws {
        var json = PlainJSON(text: text)
        try json.skip("{")
        let clocks = try json.members("clocks") { json in
            try json.skip("{")
            let clock = Clock(epoch: try json.required("epoch"), media: try json.required("media"))
            try json.skip("}")
            return clock
        }
        guard let cursors: [String: UInt64] = try json.members("cursors", { try $0.integer() }) else {
            throw PlainJSON.Unusual()
        }
        let handled: UInt64 = try json.required("handled")
        let handledAt: Int64? = try json.optional("handledAt")
        let (incarnation, log) = (try json.string("incarnation"), try json.string("log"))
        let loggedAt: Int64? = try json.optional("loggedAt")
        let pauses = try json.members("pauses") { json in
            try json.skip("{")
            let since: Int64? = try json.optional("since")
            let pause = Pause(time: try json.required("time"), since: since)
            try json.skip("}")
            return pause
        }
        var previous: Generation?
        if json.begins("previous") {
            try json.skip("{")
            let sequence: UInt64 = try json.required("sequence")
            guard let state = try State(plain: &json) else { throw PlainJSON.Unusual() }
            previous = Generation(sequence: sequence, state: state)
            try json.skip("}")
        }
        guard json.begins("quiet") else { throw PlainJSON.Unusual() }
        let quiet = try json.bool()
        let restorations: UInt32? = try json.optional("restorations")
        let room = try json.string("room")
        let sequence: UInt64 = try json.required("sequence")
        let state = try State(plain: &json)
        let version: Int = try json.required("version")
        let videos = try json.members("videos") { try $0.bool() }
        try json.skip("}")
        guard json.isAtEnd else { throw PlainJSON.Unusual() }
        self.init(
            version: version, room: room, log: log, incarnation: incarnation, sequence: sequence, handled: handled,
            cursors: cursors, pauses: pauses, videos: videos, clocks: clocks, quiet: quiet, state: state,
            previous: previous, restorations: restorations, loggedAt: loggedAt, handledAt: handledAt)
    }
}

extension CheckpointManifest.Wire.State {
    /// The member `state`; nil where it is missing.
    fileprivate init?(plain json: inout PlainJSON) throws {
        guard json.begins("state") else { return nil }
        try json.skip("{")
        let bytes: Int = try json.required("bytes")
        let (fold, format): (UInt64?, UInt8?) = (try json.optional("fold"), try json.optional("format"))
        let hash = try json.string("hash")
        guard json.begins("parts") else { throw PlainJSON.Unusual() }
        try json.skip("[")
        var parts: [UInt64] = []
        while !json.skips("]") {
            if !parts.isEmpty { try json.skip(",") }
            parts.append(try json.integer())
        }
        let slot: Int? = try json.optional("slot")
        try json.skip("}")
        self.init(parts: parts, bytes: bytes, hash: hash, slot: slot, format: format, fold: fold)
    }
}

/// JSON whose members are known and in order, without white space and escapes.
private struct PlainJSON {
    struct Unusual: Error {}

    private let text: ArraySlice<UInt8>
    private var position: Int

    init(text: ArraySlice<UInt8>) { (self.text, position) = (text, text.startIndex) }

    var isAtEnd: Bool { position == text.endIndex }

    mutating func skips(_ literal: StaticString) -> Bool {
        let isNext = literal.withUTF8Buffer { text[position...].starts(with: $0) }
        if isNext { position += literal.utf8CodeUnitCount }
        return isNext
    }

    mutating func skip(_ literal: StaticString) throws {
        guard skips(literal) else { throw Unusual() }
    }

    /// Skips the name of a member of the object that has begun, if it is the next one.
    mutating func begins(_ name: StaticString) -> Bool {
        let start = position
        let isFirst = text[position - 1] == UInt8(ascii: "{")
        if isFirst || skips(","), skips("\""), skips(name), skips("\":") { return true }
        position = start
        return false
    }

    mutating func optional<Number: FixedWidthInteger>(_ name: StaticString) throws -> Number? {
        begins(name) ? try integer() : nil
    }

    mutating func required<Number: FixedWidthInteger>(_ name: StaticString) throws -> Number {
        guard let number: Number = try optional(name) else { throw Unusual() }
        return number
    }

    mutating func string(_ name: StaticString) throws -> String {
        guard begins(name) else { throw Unusual() }
        return try string()
    }

    /// A member that is an object with members of any names; nil where it is missing.
    mutating func members<Value>(
        _ name: StaticString, _ value: (inout Self) throws -> Value
    ) throws -> [String: Value]? {
        guard begins(name) else { return nil }
        try skip("{")
        var members: [String: Value] = [:]
        while !skips("}") {
            if !members.isEmpty { try skip(",") }
            let name = try string()
            try skip(":")
            members[name] = try value(&self)
        }
        return members
    }

    mutating func integer<Number: FixedWidthInteger>() throws -> Number {
        let isNegative = skips("-")
        let start = position
        var number: Number = 0
        while position < text.endIndex, 0x30...0x39 ~= text[position] {
            let digit = Number(text[position] - 0x30)
            let (scaled, isBeyond) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) =
                isNegative ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
            guard !isBeyond, !isOver else { throw Unusual() }
            number = sum
            position += 1
        }
        guard position > start else { throw Unusual() }
        return number
    }

    mutating func bool() throws -> Bool {
        if skips("true") { return true }
        try skip("false")
        return false
    }

    private mutating func string() throws -> String {
        try skip("\"")
        let start = position
        while position < text.endIndex, text[position] != UInt8(ascii: "\"") {
            guard 0x20..<0x80 ~= text[position], text[position] != UInt8(ascii: "\\") else { throw Unusual() }
            position += 1
        }
        defer { position += 1 }
        guard position < text.endIndex else { throw Unusual() }
        return String(decoding: text[start..<position], as: UTF8.self)
    }
}
