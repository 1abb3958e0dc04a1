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

    struct Wire: Decodable, Equatable {
        struct State: Decodable, Equatable {
            var parts: [UInt64]
            var bytes: Int
            /// As text, because some JSON readers damage numbers of 64 bits.
            var hash: String
            var slot: Int?
            var format: UInt8?
            var fold: UInt64?
        }
        struct Generation: Decodable, Equatable {
            var sequence: UInt64
            var state: State
        }
        struct Clock: Decodable, Equatable {
            var epoch: Int64
            /// In microseconds.
            var media: Int64
        }
        struct Pause: Decodable, Equatable {
            /// In nanoseconds.
            var time: Int64
            /// In nanoseconds of the log's clock.
            var since: Int64?
        }
        var version: Int
        var room: String
        var log: String
        var incarnation: String
        var sequence: UInt64
        var handled: UInt64
        /// The index of the last operation released to each cohort.
        var cursors: [String: UInt64]
        /// The pauses of cohorts since the operation after that one was logged. Older releases do not write them.
        var pauses: [String: Pause]?
        /// Whether a cohort has had a video. Older releases do not write it, and of some cohorts it does not matter.
        var videos: [String: Bool]?
        /// The clocks of cohorts as they were last. Older releases do not write them.
        var clocks: [String: Clock]?
        var quiet: Bool
        var state: State?
        var previous: Generation?
        var restorations: UInt32?
        /// In nanoseconds since 1970. Older releases do not write them.
        var loggedAt: Int64?
        var handledAt: Int64?
    }

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

    init(decoding bytes: [UInt8]) throws(Unreadable) {
        let decoded =
            HashedJSON.json(of: bytes).flatMap { try? Wire(plain: $0) } ?? HashedJSON.decode(Wire.self, from: bytes)
        // A newer release may have other fields.
        guard
            let stamp = decoded.map({ Stamp(version: $0.version, log: $0.log) })
                ?? HashedJSON.decode(Stamp.self, from: bytes), stamp.version > 0
        else { throw .damaged }
        guard stamp.version <= Self.version else {
            throw .newer(
                log: stamp.log, what: "a manifest of version \(stamp.version), this release knows \(Self.version)")
        }
        guard let wire = decoded, let room = RoomID(wire.room) else { throw .damaged }
        var cursors: [CohortName: CohortCursor] = [:]
        for (name, index) in wire.cursors {
            guard let cohort = CohortName(name) else { throw .damaged }
            let pause = wire.pauses?[name]
            let clock = wire.clocks?[name].map {
                SavedClock(epoch: $0.epoch, media: MediaTime(microseconds: $0.media))
            }
            cursors[cohort] = CohortCursor(
                index, pausedTime: .nanoseconds(pause?.time ?? 0),
                pausedSince: pause?.since.map(Instant.init(nanoseconds:)), hasVideo: wire.videos?[name],
                clock: clock)
        }
        self.init(
            room: room, log: wire.log, incarnation: wire.incarnation, sequence: wire.sequence, handled: wire.handled,
            cursors: cursors, isQuiet: wire.quiet, state: nil, restorations: wire.restorations ?? 0,
            loggedAt: wire.loggedAt.map(Instant.init(nanoseconds:)),
            handledAt: wire.handledAt.map(Instant.init(nanoseconds:)))
        if let stored = wire.state { state = try State(stored) }
        if let stored = wire.previous {
            previous = Generation(sequence: stored.sequence, state: try State(stored.state))
        }
        for state in generations.map(\.state) {
            if let what = state.newness { throw .newer(log: wire.log, what: what) }
        }
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

    /// The first release wrote neither format nor rules; both were version 1.
    fileprivate init(_ wire: CheckpointManifest.Wire.State) throws(CheckpointManifest.Unreadable) {
        guard let hash = BoardDigest(hexadecimal: wire.hash)?.value, wire.bytes >= 0,
            wire.slot.map({ (0..<3).contains($0) }) ?? true
        else { throw .damaged }
        self.init(
            parts: wire.parts, bytes: wire.bytes, hash: hash, slot: wire.slot, format: wire.format ?? 1,
            fold: wire.fold ?? 1)
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

/// The fields of every version.
private struct Stamp: Decodable {
    var version: Int
    var log: String
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
        guard let stamp = HashedJSON.decode(Stamp.self, from: bytes), stamp.version > 0 else { return nil }
        guard stamp.version <= Self.currentVersion else {
            throw .newer(
                log: stamp.log,
                what: "a coverage of version \(stamp.version), this release knows \(Self.currentVersion)")
        }
        guard let coverage = HashedJSON.decode(Coverage.self, from: bytes) else { return nil }
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
    static func json(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes[16] == UInt8(ascii: "\n"),
            bytes[..<16].elementsEqual(FNV1a64.digits(FNV1a64.hash(json)).utf8)
        else { return nil }
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
