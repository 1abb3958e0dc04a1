import StrokeWire
import Testing

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

    private func merged(_ lists: [RoomList]) -> MergedRoomList {
        lists.reduce(into: MergedRoomList()) { $0.add($1) }
    }

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
        for count in 1...3 {
            #expect(!merged(Array(lists.prefix(count))).isComplete)
        }
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
