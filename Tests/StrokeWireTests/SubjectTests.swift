import StrokeWire
import TestSupport
import Testing

@Suite struct `Subjects` {
    @Test(arguments: ["a", "lesson-7", "_", "-", "0", String(repeating: "z", count: 64)])
    func `are made of names`(text: String) {
        #expect(RoomID(text)?.text == text)
        #expect(AuthorID(text)?.description == text)
        #expect(CohortName(text)?.text == text)
    }

    @Test(arguments: [
        "", "A", "a.b", "a b", "*", ">", "é", "a/", "a\n", "\0", "ａ", String(repeating: "z", count: 65),
    ])
    func `hold no other text`(text: String) {
        #expect(RoomID(text) == nil)
        #expect(AuthorID(text) == nil)
        #expect(CohortName(text) == nil)
    }

    @Test func `have no cohort of the name of a setting`() {
        #expect(CohortName("open") == nil)
        #expect(CohortName("default") == nil)
        #expect(CohortName("head") == nil)
        #expect(RoomID("open") != nil)
        #expect(CohortName("main") == .main)
    }

    @Test func `sort by name`() throws {
        let names = try ["b", "a-", "a", "_", "0"].map { try #require(RoomID($0)) }
        #expect(names.sorted().map(\.text) == ["0", "_", "a", "a-", "b"])
    }

    @Test func `begin with the room's address`() throws {
        let room = try #require(RoomID("lesson-7"))
        #expect(RoomAddress(root: "ink", room: room, partitions: 1).description == "ink.0.lesson-7")
        #expect(RoomAddress(root: "a.b", partition: 3, room: room).description == "a.b.3.lesson-7")
        for partitions in [0, -1, Int.min] {
            #expect(RoomAddress(root: "ink", room: room, partitions: partitions).partition == 0)
        }
        // 32-bit FNV-1a of "lesson-7" is 0x60028f89, of "a" 0xe40c292c.
        #expect(RoomAddress(root: "ink", room: room, partitions: 1000).partition == 0x6002_8f89 % 1000)
        #expect(RoomAddress(root: "ink", room: try #require(RoomID("a")), partitions: 16).partition == 12)
    }

    private static func all() throws -> [(RoomSubject, String)] {
        let author = try #require(AuthorID("t-1"))
        let cohort = try #require(CohortName("hls"))
        return [
            (.input(author), "in.t-1"), (.feedback(author), "feedback.t-1"), (.clock(cohort), "clock.hls"),
            (.out(cohort), "out.hls"), (.mark(cohort), "mark.hls"), (.head, "head"), (.join(cohort), "join.hls"),
            (.image(cohort), "image.hls"), (.joinHead, "join-head"), (.imageHead, "image-head"), (.control, "ctl"),
            (.info, "info"), (.wetInput(author), "wet-in.t-1"), (.wet(cohort), "wet.hls"), (.wetHead, "wet-head"),
            (.markHead, "mark-head"), (.replay(cohort), "replay.hls"), (.replayHead, "replay-head"),
            (.asset(cohort), "asset.hls"), (.assetHead, "asset-head"), (.assetInput, "asset-in"),
        ]
    }

    @Test func `are written and taken apart`() throws {
        let room = try #require(RoomID("lesson-7"))
        for root in ["ink", "school.ink"] {
            let address = RoomAddress(root: root, partition: 12, room: room)
            for (subject, text) in try Self.all() {
                #expect(address.subject(subject) == "\(root).12.lesson-7.\(text)")
                let parsed = InboundSubject(address.subject(subject), root: root)
                #expect(parsed?.address == address)
                #expect(parsed?.kind == subject)
            }
        }
    }

    @Test(arguments: [
        "", "ink", "ink.", "ink.0", "ink.0.r", "ink.0.r.", "ink.0.r.in", "ink.0.r.in.", "ink.0.r.in.A",
        "ink.0.r.in.a.b", "ink.0.r.head.a", "ink.0.r.ctl.", "ink.0.r.what", "ink.0.r.what.a", "ink.0.R.head",
        "ink.0..head", "ink..r.head", "ink.00.r.head", "ink.01.r.head", "ink.-1.r.head", "ink.+1.r.head",
        "ink.x.r.head", "ink.9999999999.r.head", "inky.0.r.head", "other.0.r.head", "ink0.r.head",
        "ink.0.r.clock.open", "ink.0.r.join.default", "ink.0.r.join.head", "ink.0.r.join-head.main",
        "ink.0.r.image-head.", "ink.0.r.wet-in", "ink.0.r.wet", "ink.0.r.wet.head", "ink.0.r.wet-head.main",
        " ink.0.r.head", "ink.0.r.head ", "ink.0.r.checkpoint",
    ])
    func `that are none are refused`(text: String) {
        #expect(InboundSubject(text, root: "ink") == nil)
    }

    @Test(arguments: TestSeed.choose(4))
    func `are the same with a cache, however full it is`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var cache = InboundSubjectCache(root: "ink", size: 16)
        for _ in 0..<5000 {
            let room = "room-\(Int.random(in: 0..<40, using: &random))"
            let kind =
                ["in.anna", "clock.hls", "head", "ctl", "join.main", "in.", "nothing.x"]
                .randomElement(using: &random) ?? ""
            let root = Int.random(in: 0..<20, using: &random) == 0 ? "other" : "ink"
            let subject = "\(root).0.\(room).\(kind)"
            let cached = Array(subject.utf8).withUnsafeBytes { cache.subject($0) }
            #expect(cached == InboundSubject(subject, root: "ink"), "\(subject), seed \(seed)")
        }
    }
}
