import Foundation
import Testing

@testable import LecternGateway

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

    @Test("a room that has left memory is shown as asleep")
    func asleep() throws {
        let line = #"{"address":"ink.0.a","asleep":true,"cohorts":[],"incarnation":"1-1","index":4,"room":"a"}"#
        let room = try JSONDecoder().decode(RoomSummary.self, from: Data(line.utf8))
        #expect(IndexPage(rooms: [room], notice: nil).html.contains("<td>4<td>asleep<td>"))
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
