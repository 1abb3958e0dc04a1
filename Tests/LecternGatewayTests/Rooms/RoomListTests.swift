import Foundation
import Testing

@testable import LecternGateway

@Suite("List of rooms")
struct RoomListTests {
    private func room(_ name: String, index: UInt64) -> RoomSummary {
        RoomSummary(room: name, address: "ink.0.\(name)", index: index, visible: 1, cohorts: [])
    }

    @Test("lists are merged by name, and who is further speaks for a room")
    func merged() {
        let lists = [
            RoomList(rooms: [room("c", index: 1), room("a", index: 5)]),
            RoomList(rooms: [room("a", index: 9), room("b", index: 2)]),
            RoomList(rooms: [room("a", index: 7)]),
        ]
        #expect(RoomList.merging(lists).rooms == [room("a", index: 9), room("b", index: 2), room("c", index: 1)])
    }

    @Test("names that are no rooms' are left out")
    func badNames() {
        let list = RoomList(rooms: [room("<script>", index: 1), room("", index: 1), room("ok", index: 1)])
        #expect(RoomList.merging([list]).rooms.map(\.room) == ["ok"])
    }

    @Test("an unknown video time is null, a known one a number")
    func videoTime() throws {
        let text = """
            {"rooms":[{"address":"ink.0.a","cohorts":[{"cohort":"hls","held":0,"index":1,"v":null},\
            {"cohort":"main","held":2,"index":3,"v":12345.5}],"index":4,"room":"a","visible":5}]}
            """
        let list = try JSONDecoder().decode(RoomList.self, from: Data(text.utf8))
        #expect(list.rooms.first?.cohorts.map(\.video) == [nil, 12345.5])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(list), as: UTF8.self) == text)
    }
}
