import Foundation
import Hosting
import StrokeWire
import Whiteboard

extension CheckpointManifest {
    /// Why a stored manifest cannot be used.
    enum Unreadable: Error, Equatable {
        /// It is damaged, or not a manifest.
        case damaged
        /// A newer release wrote it, or a state that it names.
        case newer(log: String, what: String)
    }

    /// 1: one state, whose parts have subjects without a slot. 2: generations.
    static let version = 2

    func encoded() -> [UInt8] {
        let cursors = cursors.map { (name: $0.key.text, cursor: $0.value) }.sorted { $0.name < $1.name }
        return HashedJSON.encode { json in
            json.append("clocks", of: cursors) { json, name, cursor in
                guard let clock = cursor.clock else { return }
                json.append(key: name) { json in
                    json.append("epoch", integer: clock.epoch)
                    json.append("media", integer: clock.media.microseconds)
                }
            }
            json.append(key: "cursors") { json in
                for (name, cursor) in cursors {
                    json.append(key: name)
                    json.append(integer: cursor.released)
                }
            }
            json.append("handled", integer: handled)
            json.append("handledAt", integer: handledAt?.nanoseconds)
            json.append("incarnation", string: incarnation)
            json.append("log", string: log)
            json.append("loggedAt", integer: loggedAt?.nanoseconds)
            json.append("pauses", of: cursors) { json, name, cursor in
                guard cursor.pausedTime > .zero || cursor.pausedSince != nil else { return }
                json.append(key: name) { json in
                    json.append("since", integer: cursor.pausedSince?.nanoseconds)
                    json.append("time", integer: cursor.pausedTime.nanoseconds)
                }
            }
            if let previous {
                json.append(key: "previous") { json in
                    json.append("sequence", integer: previous.sequence)
                    json.append(key: "state", previous.state.append(to:))
                }
            }
            json.append("quiet", bool: isQuiet)
            json.append("restorations", integer: restorations == 0 ? nil : restorations)
            json.append("room", string: room.text)
            json.append("sequence", integer: sequence)
            if let state { json.append(key: "state", state.append(to:)) }
            json.append("version", integer: Self.version)
            json.append("videos", of: cursors) { json, name, cursor in
                guard let hasVideo = cursor.hasVideo else { return }
                json.append(key: name)
                json.append(contentsOf: (hasVideo ? "true" : "false").utf8)
            }
        }
    }

    /// Members come in any order; those that this release does not know are passed over.
    init(decoding bytes: [UInt8]) throws(Unreadable) {
        guard let json = try HashedJSON.json(of: bytes, "a manifest", upTo: Self.version) else { throw .damaged }
        do {
            self = try JSONStream.read(json) { stream throws(Rejection) in try Self(&stream) }
        } catch {
            throw .damaged
        }
        for state in generations.map(\.state) {
            if let what = state.newness { throw .newer(log: log, what: what) }
        }
    }

    private init(_ stream: inout JSONStream) throws(Rejection) {
        var (room, log, incarnation): (String?, String?, String?)
        var (sequence, handled): (UInt64?, UInt64?)
        var isQuiet: Bool?
        var released: [CohortName: UInt64]?
        // Older releases wrote none of these.
        var pauses: [CohortName: (time: Int64, since: Int64?)] = [:]
        var videos: [CohortName: Bool] = [:]
        var clocks: [CohortName: SavedClock] = [:]
        var restorations: UInt32 = 0
        var (loggedAt, handledAt): (Int64?, Int64?)
        var (state, previous): (State?, Generation?)
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "room": room = try stream.string(key)
            case "log": log = try stream.string(key)
            case "incarnation": incarnation = try stream.string(key)
            case "sequence": sequence = try stream.integer(key)
            case "handled": handled = try stream.integer(key)
            case "quiet": isQuiet = try stream.bool(key)
            case "cursors":
                released = try stream.cohorts { name, stream throws(Rejection) in try stream.integer(name) }
            case "pauses":
                pauses = try stream.cohorts { _, stream throws(Rejection) in
                    let pause = try stream.integers("time", "since")
                    return (try pause["time"].required("time"), pause["since"])
                }
            case "videos": videos = try stream.cohorts { name, stream throws(Rejection) in try stream.bool(name) }
            case "clocks":
                clocks = try stream.cohorts { _, stream throws(Rejection) in
                    let clock = try stream.integers("epoch", "media")
                    return SavedClock(
                        epoch: try clock["epoch"].required("epoch"),
                        media: MediaTime(microseconds: try clock["media"].required("media")))
                }
            case "restorations": restorations = try stream.integer(key)
            case "loggedAt": loggedAt = try stream.integer(key)
            case "handledAt": handledAt = try stream.integer(key)
            case "state": state = try State(&stream)
            case "previous": previous = try Generation(&stream)
            default: try stream.skip()
            }
        }
        var cursors: [CohortName: CohortCursor] = [:]
        for (cohort, index) in try released.required("cursors") {
            cursors[cohort] = CohortCursor(
                index, pausedTime: .nanoseconds(pauses[cohort]?.time ?? 0),
                pausedSince: pauses[cohort]?.since.map(Instant.init(nanoseconds:)), hasVideo: videos[cohort],
                clock: clocks[cohort])
        }
        self.init(
            room: try room.flatMap { RoomID($0) }.required("room"), log: try log.required("log"),
            incarnation: try incarnation.required("incarnation"), sequence: try sequence.required("sequence"),
            handled: try handled.required("handled"), cursors: cursors, isQuiet: try isQuiet.required("quiet"),
            state: state, previous: previous, restorations: restorations,
            loggedAt: loggedAt.map(Instant.init(nanoseconds:)), handledAt: handledAt.map(Instant.init(nanoseconds:)))
    }
}

extension JSONStream {
    /// Takes an object whose members are of cohorts.
    fileprivate mutating func cohorts<Value>(
        _ value: (_ name: String, inout JSONStream) throws(Rejection) -> Value
    ) throws(Rejection) -> [CohortName: Value] {
        var values: [CohortName: Value] = [:]
        try takeObject { name, stream throws(Rejection) in
            values[try CohortName(name).required(name)] = try value(name, &stream)
        }
        return values
    }

    /// Takes an object.
    /// - Returns: those of its members that have one of these names, which are integers.
    fileprivate mutating func integers(_ names: String...) throws(Rejection) -> [String: Int64] {
        var integers: [String: Int64] = [:]
        try takeObject { name, stream throws(Rejection) in
            guard names.contains(name) else { return try stream.skip() }
            integers[name] = try stream.integer(name)
        }
        return integers
    }
}

extension CheckpointManifest.Generation {
    fileprivate init(_ stream: inout JSONStream) throws(Rejection) {
        var sequence: UInt64?
        var state: CheckpointManifest.State?
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "sequence": sequence = try stream.integer(key)
            case "state": state = try CheckpointManifest.State(&stream)
            default: try stream.skip()
            }
        }
        self.init(sequence: try sequence.required("sequence"), state: try state.required("state"))
    }
}

extension CheckpointManifest.State {
    fileprivate func append(to json: inout [UInt8]) {
        json.append("bytes", integer: bytes)
        json.append("fold", integer: fold)
        json.append("format", integer: format)
        json.append("hash", string: FNV1a64.digits(hash))
        json.append("parts", list: parts) { $0.append(integer: $1) }
        json.append("slot", integer: slot)
    }

    fileprivate init(_ stream: inout JSONStream) throws(Rejection) {
        var parts: [UInt64]?
        var bytes: Int?
        var hash: String?
        var slot: Int?
        // The first release wrote neither format nor rules; both were version 1.
        var (format, fold): (UInt8, UInt64) = (1, 1)
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "parts":
                var list: [UInt64] = []
                try stream.takeArray { stream throws(Rejection) in list.append(try stream.integer(key)) }
                parts = list
            case "bytes": bytes = try stream.integer(key)
            case "hash": hash = try stream.string(key)
            case "slot": slot = try stream.integer(key)
            case "format": format = try stream.integer(key)
            case "fold": fold = try stream.integer(key)
            default: try stream.skip()
            }
        }
        guard let parts, let bytes, bytes >= 0, let hash = hash.flatMap({ BoardDigest(hexadecimal: $0) })?.value,
            slot.map({ (0..<3).contains($0) }) ?? true
        else { throw Rejection(code: .outOfRange, field: "state", message: "This is no state of a room.") }
        self.init(parts: parts, bytes: bytes, hash: hash, slot: slot, format: format, fold: fold)
    }

    /// Why this release cannot read the state; nil when it can.
    fileprivate var newness: String? {
        if format > RoomCheckpoint.formatVersion {
            return "a state of format \(format), this release knows \(RoomCheckpoint.formatVersion)"
        }
        if fold > RoomCheckpoint.foldVersion {
            return "a room made by the rules \(fold), this release knows \(RoomCheckpoint.foldVersion)"
        }
        return nil
    }
}

/// How far a partition's log is covered by checkpoints.
struct Coverage: Codable, Equatable {
    static let currentVersion = 1

    var version = Self.currentVersion
    /// The `PartitionLog.incarnationPrefix` of the log.
    var log: String
    /// All records of the partition up to this one are in acknowledged checkpoints.
    var covered: UInt64
    /// How often the log has lost its end. Older releases do not write it.
    var rewinds: Int?

    init(log: String, covered: UInt64, rewinds: Int = 0) {
        self.log = log
        self.covered = covered
        self.rewinds = rewinds == 0 ? nil : rewinds
    }

    /// Whether it covers less than another of the log, or what it covers was lost since.
    func isBehind(_ other: Coverage) -> Bool { (rewinds ?? 0, covered) < (other.rewinds ?? 0, other.covered) }

    func encoded() -> [UInt8] { HashedJSON.encode(self) }

    /// Nil when the bytes are damaged.
    /// - Throws: `.newer` when a newer release wrote them.
    init?(decoding bytes: [UInt8]) throws(CheckpointManifest.Unreadable) {
        guard try HashedJSON.json(of: bytes, "a coverage", upTo: Self.currentVersion) != nil,
            let coverage = HashedJSON.decode(Coverage.self, from: bytes)
        else { return nil }
        self = coverage
    }
}

/// Readable JSON after a line with its hash: 16 hexadecimal digits, FNV-1a (64 bit) of the JSON.
enum HashedJSON {
    /// - Precondition: the value has only numbers, booleans and valid text, which can always be encoded.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return hashed((try? encoder.encode(value)).map { Array($0) } ?? [])
    }

    /// An object whose members are appended in the order of their names. For what is written often: an encoder takes ten times as long.
    static func encode(_ members: (inout [UInt8]) -> Void) -> [UInt8] {
        var json: [UInt8] = []
        json.append(object: members)
        return hashed(json)
    }

    private static func hashed(_ json: [UInt8]) -> [UInt8] {
        Array("\(FNV1a64.digits(FNV1a64.hash(json)))\n".utf8) + json
    }

    /// Nil when the bytes are damaged, or something else.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        json(of: bytes).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }

    /// Nil when it does not match its hash.
    private static func json(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes[16] == UInt8(ascii: "\n"),
            bytes[..<16].elementsEqual(FNV1a64.digits(FNV1a64.hash(json)).utf8)
        else { return nil }
        return json
    }

    /// The text of something whose versions all have the members `version`, from 1, and `log`. Nil when the bytes are damaged.
    /// - Throws: `.newer` for a version beyond `known`.
    static func json(
        of bytes: [UInt8], _ what: String, upTo known: Int
    ) throws(CheckpointManifest.Unreadable) -> [UInt8]? {
        guard let json = json(of: bytes).map({ Array($0) }) else { return nil }
        var (version, log): (Int?, String?)
        let isRead: Void? = try? JSONStream.read(json) { stream throws(Rejection) in
            try stream.takeObject { key, stream throws(Rejection) in
                switch key {
                case "version": version = try stream.integer(key)
                case "log": log = try stream.string(key)
                default: try stream.skip()
                }
            }
        }
        guard isRead != nil, let version, let log, version > 0 else { return nil }
        guard version <= known else {
            throw .newer(log: log, what: "\(what) of version \(version), this release knows \(known)")
        }
        return json
    }
}

extension [UInt8] {
    fileprivate mutating func append(object members: (inout [UInt8]) -> Void) {
        append(UInt8(ascii: "{"))
        members(&self)
        append(UInt8(ascii: "}"))
    }

    /// A member that is an object.
    fileprivate mutating func append(key name: String, _ members: (inout [UInt8]) -> Void) {
        append(key: name)
        append(object: members)
    }

    /// A member that is an object with members of cohorts; left out where none has one.
    fileprivate mutating func append(
        _ name: String, of cursors: [(name: String, cursor: CohortCursor)],
        _ member: (inout [UInt8], String, CohortCursor) -> Void
    ) {
        let end = count
        append(key: name) { json in
            for (name, cursor) in cursors { member(&json, name, cursor) }
        }
        if self[count - 2] == UInt8(ascii: "{") { removeSubrange(end...) }
    }
}
