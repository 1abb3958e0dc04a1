import StrokeWire
import TestSupport
import Testing

@testable import Journal

@Suite struct ManifestTests {
    private func random(_ generator: inout SeededGenerator) throws -> CheckpointManifest {
        func number() -> UInt64 {
            UInt64.random(in: .min ... .max, using: &generator) >> UInt64.random(in: 0...63, using: &generator)
        }
        var cursors: [CohortName: UInt64] = [:]
        for cohort in 0..<Int.random(in: 0...5, using: &generator) {
            cursors[try #require(CohortName("c\(cohort)"))] = number()
        }
        let state = CheckpointManifest.State(
            parts: (0..<Int.random(in: 0...20, using: &generator)).map { _ in number() },
            bytes: Int(number() >> 1), hash: number())
        return CheckpointManifest(
            room: try #require(RoomID("room-\(number())")), log: "\(number())", incarnation: "\(number())-\(number())",
            sequence: number(),
            handled: number(), cursors: cursors, isQuiet: Bool.random(using: &generator),
            state: Bool.random(using: &generator) ? state : nil)
    }

    @Test func `Any manifest comes back as it was, numbers of 64 bits included`() throws {
        for seed in TestSeed.choose(300) {
            var generator = SeededGenerator(seed: seed)
            let manifest = try random(&generator)
            #expect(try CheckpointManifest(decoding: manifest.encoded()) == manifest, "seed \(seed)")
        }
    }

    @Test func `It is a line with the hash, then JSON that a person can read`() throws {
        let manifest = CheckpointManifest(
            room: try #require(RoomID("physics")), log: "abc", incarnation: "abc-1", sequence: 12, handled: 11,
            cursors: [.main: 7], isQuiet: false,
            state: CheckpointManifest.State(parts: [3, 4], bytes: 600_000, hash: 0xdead_beef))
        let text = String(decoding: manifest.encoded(), as: UTF8.self)
        let json = #"""
            {"cursors":{"main":7},"handled":11,"incarnation":"abc-1","log":"abc","quiet":false,"room":"physics",\#
            "sequence":12,"state":{"bytes":600000,"hash":"00000000deadbeef","parts":[3,4]},"version":1}
            """#
        #expect(text.dropFirst(17) == json)
        #expect(text.prefix(17) == FNV1a64.digits(FNV1a64.hash(json.utf8)) + "\n")
    }

    @Test func `Whatever is cut off or changed is noticed`() throws {
        var generator = SeededGenerator(seed: TestSeed.choose())
        let bytes = try random(&generator).encoded()
        for length in 0..<bytes.count {
            #expect(throws: CheckpointManifest.Damaged.self) {
                try CheckpointManifest(decoding: Array(bytes[..<length]))
            }
        }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= UInt8(1 << Int.random(in: 0...7, using: &generator))
            #expect(throws: CheckpointManifest.Damaged.self) { try CheckpointManifest(decoding: changed) }
        }
        for _ in 0..<1000 {
            let noise = (0..<Int.random(in: 0...100, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            #expect(throws: CheckpointManifest.Damaged.self) { try CheckpointManifest(decoding: noise) }
        }
    }

    @Test(arguments: [
        "{}", #"{"version":2,"room":"a"}"#,
        #"{"version":1,"room":"A","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{},"quiet":true}"#,
        #"{"version":1,"room":"a","incarnation":"","log":"","sequence":-1,"handled":1,"cursors":{},"quiet":true}"#,
        #"{"version":1,"room":"a","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{"A":1},"quiet":true}"#,
        """
        {"version":1,"room":"a","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{},"quiet":true,\
        "state":{"parts":[],"bytes":-1,"hash":"0000000000000000"}}
        """,
    ])
    func `With the right hash, too, what is no manifest is refused`(_ json: String) {
        let bytes = Array("\(FNV1a64.digits(FNV1a64.hash(json.utf8)))\n\(json)".utf8)
        #expect(throws: CheckpointManifest.Damaged.self) { try CheckpointManifest(decoding: bytes) }
    }
}
