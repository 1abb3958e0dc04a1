import Foundation
import Hosting
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

@Suite struct ManifestTests {
    private func random(_ generator: inout SeededGenerator) throws -> CheckpointManifest {
        func number() -> UInt64 {
            UInt64.random(in: .min ... .max, using: &generator) >> UInt64.random(in: 0...63, using: &generator)
        }
        func instant() -> Instant? {
            Bool.random(using: &generator) ? Instant(nanoseconds: Int64(bitPattern: number())) : nil
        }
        var cursors: [CohortName: CohortCursor] = [:]
        for cohort in 0..<Int.random(in: 0...5, using: &generator) {
            let time = Bool.random(using: &generator) ? Int64(number() >> 1) : 0
            let since = instant()
            let media = MediaTime(microseconds: Int64(bitPattern: number()))
            cursors[try #require(CohortName("c\(cohort)"))] = CohortCursor(
                number(), pausedTime: .nanoseconds(time), pausedSince: since,
                hasVideo: Bool.random(using: &generator) ? Bool.random(using: &generator) : nil,
                clock: Bool.random(using: &generator)
                    ? SavedClock(epoch: Int64(number() >> 11) - 1, media: media) : nil)
        }
        func state() -> CheckpointManifest.State {
            CheckpointManifest.State(
                parts: (0..<Int.random(in: 0...20, using: &generator)).map { _ in number() }, bytes: Int(number() >> 1),
                hash: number(), slot: Bool.random(using: &generator) ? Int.random(in: 0...2, using: &generator) : nil)
        }
        return CheckpointManifest(
            room: try #require(RoomID("room-\(number())")), log: "\(number())", incarnation: "\(number())-\(number())",
            sequence: number(), handled: number(), cursors: cursors, isQuiet: Bool.random(using: &generator),
            state: Bool.random(using: &generator) ? state() : nil,
            previous: Bool.random(using: &generator)
                ? CheckpointManifest.Generation(sequence: number(), state: state()) : nil,
            restorations: UInt32(number() >> 32), loggedAt: instant(), handledAt: instant())
    }

    @Test func `Any manifest comes back as it was, numbers of 64 bits included`() throws {
        for var generator in TestSeed.generators(300) {
            let manifest = try random(&generator)
            #expect(try CheckpointManifest(decoding: manifest.encoded()) == manifest, "seed \(generator.seed)")
        }
    }

    @Test func `Members come in any order, with white space, and beside members that nobody knows`() throws {
        for var generator in TestSeed.generators(300) {
            let manifest = try random(&generator)
            var json = String(decoding: manifest.encoded(), as: UTF8.self).dropFirst(17)
            let text = shuffled(&json, using: &generator)
            #expect(try CheckpointManifest(decoding: hashed(text)) == manifest, "seed \(generator.seed): \(text)")
        }
    }

    /// Takes a value of a manifest's text.
    /// - Returns: the same with white space, members in a random order, and one more where members are not named by cohorts.
    private func shuffled(
        _ json: inout Substring, named name: Substring = "", using generator: inout SeededGenerator
    ) -> String {
        guard json.first == "{" else {
            // Neither texts nor lists have such characters.
            let isList = json.first == "["
            let value = json.prefix { isList ? $0 != "]" : $0 != "," && $0 != "}" }
            json = json[value.endIndex...].dropFirst(isList ? 1 : 0)
            return value + (isList ? "]" : "")
        }
        let space = [" ", "\n", "\t\r ", ""].randomElement(using: &generator) ?? ""
        var members: [String] = []
        if !["cursors", "pauses", "videos", "clocks"].contains(name) { members = [#""later":[{"a":"\u00e9"},null]"#] }
        json.removeFirst()
        while json.first != "}" {
            if json.first == "," { json.removeFirst() }
            let key = json.prefix { $0 != ":" }
            json = json[key.endIndex...].dropFirst()
            let value = shuffled(&json, named: key.dropFirst().dropLast(), using: &generator)
            members.append("\(space)\(key)\(space):\(space)\(value)\(space)")
        }
        json.removeFirst()
        return "\(space){\(members.shuffled(using: &generator).joined(separator: ","))\(space)}\(space)"
    }

    private func hashed(_ json: String) -> [UInt8] { Array("\(FNV1a64.digits(FNV1a64.hash(json.utf8)))\n\(json)".utf8) }

    private func text(_ cursor: CohortCursor, _ state: CheckpointManifest.State? = nil) throws -> String {
        let manifest = CheckpointManifest(
            room: try .physics, log: "abc", incarnation: "abc-1", sequence: 12, handled: 11, cursors: [.main: cursor],
            isQuiet: false, state: state)
        return String(decoding: manifest.encoded(), as: UTF8.self)
    }

    @Test func `It is a line with the hash, then JSON that a person can read`() throws {
        let state = CheckpointManifest.State(
            parts: [3, 4], bytes: 600_000, hash: 0xdead_beef, slot: 2, format: 1, fold: 1)
        let text = try text(7, state)
        let json = #"""
            {"cursors":{"main":7},"handled":11,"incarnation":"abc-1","log":"abc","quiet":false,"room":"physics",\#
            "sequence":12,"state":{"bytes":600000,"fold":1,"format":1,"hash":"00000000deadbeef","parts":[3,4],"slot":2},\#
            "version":2}
            """#
        #expect(text.dropFirst(17) == json)
        #expect(text.prefix(17) == FNV1a64.digits(FNV1a64.hash(json.utf8)) + "\n")
    }

    @Test func `It says how long a cohort was paused, and nothing where it was not`() throws {
        let text = try text(CohortCursor(7, pausedTime: .milliseconds(1500), pausedSince: Instant(nanoseconds: 9)))
        #expect(text.contains(#""cursors":{"main":7},"#))
        #expect(text.contains(#""pauses":{"main":{"since":9,"time":1500000000}},"#))
    }

    @Test func `It says where a cohort's clock was, and nothing where there was none`() throws {
        let clock = SavedClock(epoch: -1, media: MediaTime(microseconds: 9_000_001))
        let text = try text(CohortCursor(7, clock: clock))
        #expect(text.contains(#""clocks":{"main":{"epoch":-1,"media":9000001}},"cursors":{"main":7},"#))
    }

    @Test func `A room that was restored as often as can be said is damaged: it could not be restored again`() throws {
        var manifest = try sampleManifest(at: 5)
        manifest.restorations = .max - 1
        #expect(try CheckpointManifest(decoding: manifest.encoded()) == manifest)
        manifest.restorations = .max
        #expect(throws: CheckpointManifest.Unreadable.damaged) { try CheckpointManifest(decoding: manifest.encoded()) }
    }

    @Test func `Any cut or changed byte is noticed`() throws {
        var generator = SeededGenerator(seed: TestSeed.choose())
        let bytes = try random(&generator).encoded()
        for length in 0..<bytes.count {
            #expect(throws: CheckpointManifest.Unreadable.damaged) {
                try CheckpointManifest(decoding: Array(bytes[..<length]))
            }
        }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= UInt8(1 << Int.random(in: 0...7, using: &generator))
            #expect(throws: CheckpointManifest.Unreadable.damaged) { try CheckpointManifest(decoding: changed) }
        }
        for _ in 0..<1000 {
            let noise = (0..<Int.random(in: 0...100, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            #expect(throws: CheckpointManifest.Unreadable.damaged) { try CheckpointManifest(decoding: noise) }
        }
    }

    @Test(arguments: [
        "{}", #"{"version":2,"log":"","room":"a"}"#, #"{"version":0,"log":"","room":"a"}"#,
        #"{"version":1,"room":"A","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{},"quiet":true}"#,
        #"{"version":1,"room":"a","incarnation":"","log":"","sequence":-1,"handled":1,"cursors":{},"quiet":true}"#,
        #"{"version":1,"room":"a","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{"A":1},"quiet":true}"#,
        """
        {"version":1,"room":"a","incarnation":"","log":"","sequence":1,"handled":1,"cursors":{},"quiet":true,\
        "state":{"parts":[],"bytes":-1,"hash":"0000000000000000"}}
        """,
    ])
    func `With the right hash, too, what is no manifest is refused`(_ json: String) {
        #expect(throws: CheckpointManifest.Unreadable.damaged) { try CheckpointManifest(decoding: hashed(json)) }
    }

    @Test(arguments: [
        #"{"version":3,"log":"abc","rooms":["a"]}"#,
        """
        {"version":2,"room":"a","incarnation":"","log":"abc","sequence":1,"handled":1,"cursors":{},"quiet":true,\
        "state":{"parts":[],"bytes":0,"hash":"0000000000000000","slot":0,"format":200,"fold":1}}
        """,
        """
        {"version":2,"room":"a","incarnation":"","log":"abc","sequence":1,"handled":1,"cursors":{},"quiet":true,\
        "previous":{"sequence":1,\
        "state":{"parts":[],"bytes":0,"hash":"0000000000000000","slot":0,"format":1,"fold":200}}}
        """,
    ])
    func `A manifest of a newer release is named, not called damaged`(_ json: String) throws {
        let error = #expect(throws: CheckpointManifest.Unreadable.self) {
            try CheckpointManifest(decoding: hashed(json))
        }
        guard case .newer("abc", let what)? = error else { throw Unexpected("\(String(describing: error))") }
        #expect(what.contains("this release knows"))
    }
}
