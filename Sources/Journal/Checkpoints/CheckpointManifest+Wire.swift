import Foundation
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
        var incarnation: String
        var sequence: UInt64
        var handled: UInt64
        var covered: UInt64
        var cursors: [String: UInt64]
        var quiet: Bool
        var state: State?
    }

    /// 16 hexadecimal digits, the FNV-1a (64 bit) of what follows the line; then JSON.
    func encoded() -> [UInt8] {
        let wire = Wire(
            room: room.text, incarnation: incarnation, sequence: sequence, handled: handled, covered: covered,
            cursors: Dictionary(uniqueKeysWithValues: cursors.map { ($0.key.text, $0.value) }), quiet: isQuiet,
            state: state.map { Wire.State(parts: $0.parts, bytes: $0.bytes, hash: FNV1a64.digits($0.hash)) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and valid text alone: nothing in it can be refused.
        let json = (try? encoder.encode(wire)).map { Array($0) } ?? []
        return Array("\(FNV1a64.digits(FNV1a64.hash(json)))\n".utf8) + json
    }

    init(decoding bytes: [UInt8]) throws(Damaged) {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes[16] == UInt8(ascii: "\n"),
            bytes[..<16].elementsEqual(FNV1a64.digits(FNV1a64.hash(json)).utf8),
            let wire = try? JSONDecoder().decode(Wire.self, from: Data(json)),
            wire.version == 1, let room = RoomID(wire.room)
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
            room: room, incarnation: wire.incarnation, sequence: wire.sequence, handled: wire.handled,
            covered: wire.covered, cursors: cursors, isQuiet: wire.quiet, state: state)
    }
}
