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
        let cursors = cursors.inOrder
        return HashedJSON.encode { json in
            json.append(clocksOf: cursors)
            json.append(cursors: cursors)
            json.append("handled", integer: handled)
            json.append("handledAt", integer: handledAt?.nanoseconds)
            json.append("incarnation", string: incarnation)
            json.append("log", string: log)
            json.append("loggedAt", integer: loggedAt?.nanoseconds)
            json.append(pausesOf: cursors)
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
            json.append(videosOf: cursors)
        }
    }

    /// Members come in any order; those that this release does not know are passed over.
    init(decoding bytes: [UInt8]) throws(Unreadable) {
        guard let json = try HashedJSON.object(of: bytes, "a manifest", upTo: Self.version) else { throw .damaged }
        do {
            try self.init(json)
        } catch {
            throw .damaged
        }
        guard restorations <= RoomRestoration.greatestNumber else { throw .damaged }
        for state in generations.map(\.state) {
            if let what = state.newness { throw .newer(log: log, what: what) }
        }
    }

    private init(_ json: JSONObject) throws(Rejection) {
        self.init(
            room: try RoomID(json.requiredString("room", limit: 64)).required("room"),
            log: try json.requiredString("log", limit: 1024),
            incarnation: try json.requiredString("incarnation", limit: 1024),
            sequence: try json.integer("sequence").required("sequence"),
            handled: try json.integer("handled").required("handled"), cursors: try json.cursors(),
            isQuiet: try json.bool("quiet").required("quiet"),
            state: try json.object("state").map(State.init),
            previous: try json.object("previous").map(Generation.init),
            restorations: try json.integer("restorations") ?? 0,
            loggedAt: try json.integer("loggedAt").map(Instant.init(nanoseconds:)),
            handledAt: try json.integer("handledAt").map(Instant.init(nanoseconds:)))
    }
}

/// Where cohorts stand, as manifests and records of notes have it: members of the object around it.
extension JSONObject {
    func cursors() throws(Rejection) -> [CohortName: CohortCursor] {
        // Older releases wrote neither pauses nor videos, clocks, restorations and times.
        let pauses = try object("pauses")
        let videos = try object("videos")
        let clocks = try object("clocks")
        let released = try object("cursors").required("cursors")
        var cursors: [CohortName: CohortCursor] = [:]
        for name in released.names {
            let pause = try pauses?.object(name)
            let clock = try clocks?.object(name)
            cursors[try CohortName(name).required("cursors")] = CohortCursor(
                try released.integer(name).required(name),
                pausedTime: .nanoseconds(try pause?.integer("time").required("time") ?? 0),
                pausedSince: try pause?.integer("since").map(Instant.init(nanoseconds:)),
                hasVideo: try videos?.bool(name),
                clock: try clock.map { clock throws(Rejection) in
                    SavedClock(
                        epoch: try clock.integer("epoch").required("epoch"),
                        media: MediaTime(microseconds: try clock.integer("media").required("media")))
                })
        }
        return cursors
    }
}

/// A cohort's name and where it stands.
typealias NamedCursor = (name: String, cursor: CohortCursor)

extension [CohortName: CohortCursor] {
    var inOrder: [NamedCursor] { map { (name: $0.key.text, cursor: $0.value) }.sorted { $0.name < $1.name } }
}

extension [UInt8] {
    mutating func append(clocksOf cursors: [NamedCursor]) {
        append("clocks", of: cursors) { json, name, cursor in
            guard let clock = cursor.clock else { return }
            json.append(key: name) { json in
                json.append("epoch", integer: clock.epoch)
                json.append("media", integer: clock.media.microseconds)
            }
        }
    }

    mutating func append(cursors: [NamedCursor]) {
        append(key: "cursors") { json in
            for (name, cursor) in cursors {
                json.append(key: name)
                json.append(integer: cursor.released)
            }
        }
    }

    mutating func append(pausesOf cursors: [NamedCursor]) {
        append("pauses", of: cursors) { json, name, cursor in
            guard cursor.pausedTime > .zero || cursor.pausedSince != nil else { return }
            json.append(key: name) { json in
                json.append("since", integer: cursor.pausedSince?.nanoseconds)
                json.append("time", integer: cursor.pausedTime.nanoseconds)
            }
        }
    }

    mutating func append(videosOf cursors: [NamedCursor]) {
        append("videos", of: cursors) { json, name, cursor in
            guard let hasVideo = cursor.hasVideo else { return }
            json.append(key: name)
            json.append(contentsOf: (hasVideo ? "true" : "false").utf8)
        }
    }
}

extension CheckpointManifest.Generation {
    fileprivate init(_ json: JSONObject) throws(Rejection) {
        self.init(
            sequence: try json.integer("sequence").required("sequence"),
            state: try CheckpointManifest.State(json.object("state").required("state")))
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

    fileprivate init(_ json: JSONObject) throws(Rejection) {
        let bytes: Int = try json.integer("bytes").required("bytes")
        let slot: Int? = try json.integer("slot")
        guard bytes >= 0, slot.map({ (0..<3).contains($0) }) ?? true,
            let hash = BoardDigest(hexadecimal: try json.requiredString("hash", limit: 16))?.value
        else { throw Rejection(code: .outOfRange, field: "state", message: "This is no state of a room.") }
        // The first release wrote neither format nor rules; both were version 1.
        self.init(
            parts: try json.integers("parts").required("parts"), bytes: bytes, hash: hash, slot: slot,
            format: try json.integer("format") ?? 1, fold: try json.integer("fold") ?? 1)
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
        guard try HashedJSON.object(of: bytes, "a coverage", upTo: Self.currentVersion) != nil,
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
        json.appendObject(members)
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

    /// Something whose versions all have the members `version`, from 1, and `log`. Nil when the bytes are damaged.
    /// - Throws: `.newer` for a version beyond `known`.
    static func object(
        of bytes: [UInt8], _ what: String, upTo known: Int
    ) throws(CheckpointManifest.Unreadable) -> JSONObject? {
        guard let json = json(of: bytes), let object = try? JSONObject(Array(json), keeping: nil, limit: .max),
            let version: Int = try? object.integer("version"), let log = try? object.string("log", limit: 1024),
            version > 0
        else { return nil }
        guard version <= known else {
            throw .newer(log: log, what: "\(what) of version \(version), this release knows \(known)")
        }
        return object
    }
}

extension [UInt8] {
    /// A member that is an object.
    mutating func append(key name: String, _ members: (inout [UInt8]) -> Void) {
        append(key: name)
        appendObject(members)
    }

    /// A member that is an object with members of cohorts; left out where none has one.
    fileprivate mutating func append(
        _ name: String, of cursors: [NamedCursor],
        _ member: (inout [UInt8], String, CohortCursor) -> Void
    ) {
        let end = count
        append(key: name) { json in
            for (name, cursor) in cursors { member(&json, name, cursor) }
        }
        if self[count - 2] == UInt8(ascii: "{") { removeSubrange(end...) }
    }
}
