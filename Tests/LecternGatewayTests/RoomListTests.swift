import Foundation
import StrokeWire
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

@Suite("Page of rooms")
struct IndexPageTests {
    @Test("rooms are linked with their pictures")
    func links() {
        let cohorts = ["main", "hls"].map { RoomSummary.Cohort(cohort: $0, index: 3, held: 0, video: nil) }
        let room = RoomSummary(room: "lesson-7", address: "ink.0.lesson-7", index: 41, visible: 12, cohorts: cohorts)
        let html = IndexPage(rooms: [room], notice: nil).html
        #expect(html.contains("<a href=\"/api/rooms/lesson-7\">lesson-7</a><td>ink.0.lesson-7<td>41<td>12"))
        #expect(html.contains("<a href=\"/rooms/lesson-7/board.png?cohort=main\">main</a>"))
        #expect(html.contains("<a href=\"/rooms/lesson-7/board.png?cohort=hls\">hls</a>"))
    }

    @Test("a room that has left memory is shown as hibernated")
    func hibernated() throws {
        let line = #"{"address":"ink.0.a","asleep":true,"cohorts":[],"incarnation":"1-1","index":4,"room":"a"}"#
        let room = try JSONDecoder().decode(RoomSummary.self, from: Data(line.utf8))
        #expect(IndexPage(rooms: [room], notice: nil).html.contains("<td>4<td>hibernated<td>"))
    }

    @Test("what a daemon sends stays text")
    func escaped() {
        let evil = "<script>\"'&"
        let cohort = RoomSummary.Cohort(cohort: evil, index: 0, held: 0, video: nil)
        let room = RoomSummary(room: evil, address: evil, index: 0, visible: 0, cohorts: [cohort])
        for page in [IndexPage(rooms: [room], notice: nil), IndexPage(rooms: [], notice: evil)] {
            #expect(!page.html.contains("<script"))
            #expect(page.html.contains("&lt;script&gt;&quot;&#39;&amp;"))
        }
    }

    @Test("no rooms, and no service, are said in words")
    func words() {
        #expect(IndexPage(rooms: [], notice: nil).html.contains("Nobody has written to a room yet."))
        #expect(IndexPage(rooms: [], notice: "No service answers.").html.contains("<p>No service answers.</p>"))
    }
}
