import StrokeWire

extension CheckpointManifest {
    /// Why a stored manifest is of no use.
    struct Damaged: Error {}

    private struct Wire: Codable {
        struct State: Codable {
            var parts: [UInt64]
            var bytes: Int
            /// As text: a number of 64 bits does not survive every reader of JSON.
            var hash: String
        }
        var version = 1
        var room: String
        var log: String
        var incarnation: String
        var sequence: UInt64
        var handled: UInt64
        var cursors: [String: UInt64]
        var quiet: Bool
        var state: State?
    }

    func encoded() -> [UInt8] {
        let wire = Wire(
            room: room.text, log: log, incarnation: incarnation, sequence: sequence, handled: handled,
            cursors: Dictionary(uniqueKeysWithValues: cursors.map { ($0.key.text, $0.value) }), quiet: isQuiet,
            state: state.map { Wire.State(parts: $0.parts, bytes: $0.bytes, hash: FNV1a64.digits($0.hash)) })
        return HashedJSON.encode(wire)
    }

    init(decoding bytes: [UInt8]) throws(Damaged) {
        guard let wire = HashedJSON.decode(Wire.self, from: bytes), wire.version == 1, let room = RoomID(wire.room)
        else { throw Damaged() }
        var cursors: [CohortName: UInt64] = [:]
        for (name, index) in wire.cursors {
            guard let cohort = CohortName(name) else { throw Damaged() }
            cursors[cohort] = index
        }
        var state: State?
        if let stored = wire.state {
            guard let hash = BoardDigest(hexadecimal: stored.hash)?.value, stored.bytes >= 0 else { throw Damaged() }
            state = State(parts: stored.parts, bytes: stored.bytes, hash: hash)
        }
        self.init(
            room: room, log: wire.log, incarnation: wire.incarnation, sequence: wire.sequence, handled: wire.handled,
            cursors: cursors, isQuiet: wire.quiet, state: state)
    }
}
