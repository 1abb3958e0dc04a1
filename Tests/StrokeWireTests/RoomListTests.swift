import StrokeWire
import Testing

@Suite struct RoomListTests {
    private let full = RoomSummary(
        room: "lesson-7", address: "ink.0.lesson-7", incarnation: "i-\"1\"", index: .max / 4, digest: "00ff",
        board: RoomSummary.Size(width: 1024, height: 768.5), visible: 3, authors: 2, assembling: 1, isHibernated: false,
        live: 5987.75, behindLive: ["anna"],
        cohorts: [
            RoomSummary.Cohort(cohort: "main", index: 7, held: 3, video: -12.25, isLive: true, gate: .video, age: 6000),
            RoomSummary.Cohort(cohort: "hls", index: 0, held: 0, video: nil),
        ])
    private let least = RoomSummary(room: "a", address: "ink.0.a", index: 0, cohorts: [])

    @Test func `a room is written with its members by name, and what is not known is left out`() {
        #expect(
            String(decoding: full.encoded(), as: UTF8.self) == #"""
                {"address":"ink.0.lesson-7","asleep":false,"assembling":1,"authors":2,"behind_live":["anna"],"board":{"h":768.5,"w":1024},\#
                "cohorts":[{"age":6000,"cohort":"main","gate":"video","held":3,"index":7,"live":true,"v":-12.25},{"cohort":"hls","held":0,"index":0,"v":null}],\#
                "digest":"00ff","incarnation":"i-\"1\"","index":4611686018427387903,"live":5987.75,"room":"lesson-7","visible":3}
                """#)
        #expect(
            String(decoding: least.encoded(), as: UTF8.self)
                == #"{"address":"ink.0.a","cohorts":[],"index":0,"room":"a"}"#)
    }

    @Test func `rooms, pages and lists read back as they were written`() throws {
        for room in [full, least] { #expect(try RoomSummary(decoding: room.encoded()) == room) }
        let page = RoomList.Page(service: "a", number: 2, count: 3, partitions: 4, covered: [0, 3])
        for list in [
            RoomList(rooms: []), RoomList(rooms: [full, least]), RoomList(page: page, rooms: [least]),
        ] { #expect(try RoomList(decoding: list.encoded()) == list) }
    }

    @Test func `white space, other members and their order do not matter, and null is as nothing`() throws {
        let text = """
             { "new" : [{"a":[1,{}]}] , "rooms" : [ {"cohorts":[ ], "x":{"y":null}, "index":0 , "visible":null,
            "board":null,"asleep":null,"digest":null, "\\u0072oom":"a","address":"ink.0.a" } ], "page":null }
            """
        #expect(try RoomList(decoding: Array(text.utf8)) == RoomList(rooms: [least]))
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"rooms\":{}}", "{\"rooms\":[1]}", "{\"rooms\":[{}]}", "{\"rooms\":[]} x", "{\"rooms\":[],}",
        #"{"rooms":[{"room":"a","address":"b","cohorts":[],"index":-1}]}"#,
        #"{"rooms":[{"room":"a","address":"b","cohorts":[],"index":1.5}]}"#,
        #"{"rooms":[{"room":1,"address":"b","cohorts":[],"index":1}]}"#,
        #"{"rooms":[{"room":"a","address":"b","cohorts":[{}],"index":1}]}"#,
        #"{"rooms":[{"room":"a","address":"b","cohorts":[],"index":1,"board":{"w":1}}]}"#,
        #"{"rooms":[{"room":"a","address":"b","cohorts":[],"index":1}"#, #"{"page":{"service":"a"},"rooms":[]}"#,
    ])
    func `a malformed list is refused`(text: String) {
        #expect(throws: Rejection.self) { try RoomList(decoding: Array(text.utf8)) }
    }

    @Test(arguments: [0, 1, 100])
    func `pages hold all rooms in order, each within its bytes`(count: Int) throws {
        let rooms = (0..<count).map { RoomSummary(room: "room-\($0)", address: "a", index: 1, cohorts: []) }
        let pages = RoomList.pages(of: rooms, service: "a", partitions: 2, covered: [1], bytes: 400)
        #expect(pages.allSatisfy { $0.count <= 400 })
        let lists = try pages.map { try RoomList(decoding: $0) }
        #expect(lists.flatMap(\.rooms) == rooms)
        #expect(lists.compactMap(\.page?.number) == Array(1...lists.count))
        #expect(lists.allSatisfy { $0.page?.count == lists.count && $0.page?.covered == [1] })
    }

    @Test func `a room longer than a page has a page of its own`() throws {
        let pages = RoomList.pages(of: [least, full, least], service: "a", partitions: 1, covered: [0], bytes: 200)
        #expect(try pages.map { try RoomList(decoding: $0).rooms } == [[least], [full], [least]])
    }
}

@Suite struct MergedRoomListTests {
    private func room(_ name: String, index: UInt64, isHibernated: Bool? = nil) -> RoomSummary {
        RoomSummary(
            room: name, address: "ink.0.\(name)", index: index, visible: 1, isHibernated: isHibernated, cohorts: [])
    }

    private func page(
        _ service: String, _ number: Int = 1, of count: Int = 1, among partitions: Int = 4, covers covered: [Int]
    ) -> RoomList {
        RoomList(
            page: RoomList.Page(
                service: service, number: number, count: count, partitions: partitions, covered: covered), rooms: [])
    }

    private func merged(_ lists: [RoomList]) -> MergedRoomList { lists.reduce(into: MergedRoomList()) { $0.add($1) } }

    @Test func `lists are merged by name, and who is further speaks for a room`() {
        let lists = [
            RoomList(rooms: [room("c", index: 1, isHibernated: true), room("a", index: 5)]),
            RoomList(rooms: [room("a", index: 9), room("b", index: 2), room("c", index: 1)]),
            RoomList(rooms: [room("a", index: 7), room("c", index: 1, isHibernated: true)]),
        ]
        #expect(merged(lists).rooms == [room("a", index: 9), room("b", index: 2), room("c", index: 1)])
    }

    @Test func `names that are no rooms' are left out`() {
        let list = RoomList(rooms: [room("<script>", index: 1), room("", index: 1), room("ok", index: 1)])
        #expect(merged([list]).rooms.map(\.room) == ["ok"])
    }

    @Test func `a list is complete when the lists of some services cover all partitions`() {
        let lists = [
            page("a", covers: [0]), page("idle", covers: []), page("b", covers: [1, 3]), page("c", covers: [2]),
        ]
        for count in 1...3 { #expect(!merged(Array(lists.prefix(count))).isComplete) }
        #expect(merged(Array(lists.prefix(3))).missing == [2])
        #expect(merged(lists).isComplete && merged(lists).missing == [])
    }

    @Test func `a list covers nothing before all of its pages are here, in any order, repeats not counted`() {
        var list = MergedRoomList()
        for number in [3, 1, 3, 1] {
            list.add(page("a", number, of: 3, covers: [0, 1, 2, 3]))
            #expect(!list.isComplete && list.missing == [0, 1, 2, 3])
        }
        // Another service's page stands in for none of them.
        list.add(page("b", 2, of: 3, covers: []))
        #expect(!list.isComplete)
        list.add(page("a", 2, of: 3, covers: [0, 1, 2, 3]))
        #expect(list.isComplete)
    }

    @Test func `lists that do not tell what they cover are never complete`() {
        #expect(!merged([]).isComplete && merged([]).missing == nil)
        let old = merged([RoomList(rooms: [room("a", index: 1)])])
        #expect(!old.isComplete && old.missing == nil)
    }

    @Test(arguments: [
        (1, 1, 0, [0]), (1, 1, -1, []), (0, 1, 1, [0]), (2, 1, 1, [0]), (1, 0, 1, [0]), (1, 1, .max, [0]),
        (1, .max, 1, [0]), (1, 1, 1, [1]), (1, 1, 1, [-1]),
    ])
    func `senseless pages cover nothing`(number: Int, count: Int, partitions: Int, covered: [Int]) {
        #expect(!merged([page("a", number, of: count, among: partitions, covers: covered)]).isComplete)
    }
}
