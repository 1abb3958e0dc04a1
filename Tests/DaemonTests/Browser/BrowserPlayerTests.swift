import Foundation
import TestSupport
import Testing

/// Boards beside a player: what its clock holds, and what is told of how far ink and picture are apart.
@Suite(.timeLimit(.minutes(10)), .endsProcesses, .inBrowsers) struct BrowserPlayerTests {
    @Test func `a student's page reports how far its ink is from the picture, and the monitor shows it`() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            let student = try await room.student("?demo=1")
            let http = HTTPClient(port: try #require(Int(room.listener.split(separator: ":")[1])))
            let series = { (name: String, rest: String) in "lectern_skew_\(name){cohort=\"main\"\(rest)}" }
            for place in 1...2 {
                try await teacher.drawWave(place)
                try await student.wait(forIndex: place)
                // A page reports once in two seconds.
                try await eventually("report \(place)") {
                    let metrics = try Exposition(try await http.get("/metrics").text)
                    if metrics[series("seconds_count", "")] ?? 0 >= Double(place) { return () }
                    if place > 1 { try await teacher.drawWave(place) }
                    return nil
                }
            }
            let metrics = try Exposition(try await http.get("/metrics").text)
            let count = try #require(metrics[series("seconds_count", "")])
            #expect(metrics[series("seconds_bucket", ",le=\"1\"")] == count)
            #expect(try #require(metrics[series("seconds_sum", "")]) > 0)
            #expect(metrics[series("early_total", "")] == 0 && metrics[series("readers", "")] == 1)
            let monitor = try await BrowserWindow(at: "\(room.address)/monitor")
            try await monitor.wait(for: "the row of the cohort", "$('skew-rows').querySelector('[data-tone=good]')")
            #expect(try await monitor.text(of: "$('skew-rows')").hasPrefix("main\t< "))
            try await monitor.expectNoComplaints()
            try await monitor.keepScreenshot("monitor-skew")
        }
    }

    @Test("a board reports ink that its player has come to by playing, not what it has jumped over")
    func reportedSkew() async throws {
        try await BrowserRoom.with(strokes: 1) { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/rooms/other")
            try await window.run(
                """
                const { Board, Gateway } = await import("/lectern.js");
                const canvas = newCanvas("800px");
                Object.assign(window, { time: 1.5, held: 0, skews: [], reports: [] });
                const gateway = noteBodies(new Gateway({ url: location.origin }), "observations", (report) => reports.push(report));
                window.own = new Board(canvas, { gateway, room: "\(room.name)", clock: () => window.time });
                own.addEventListener("lag", ({ detail }) => (window.held = detail.held));
                own.addEventListener("skew", ({ detail }) => skews.push(detail.milliseconds));
                """)
            try await window.wait(for: "the stroke", "own.index === 1")
            try await room.publish(1, after: 1)
            try await window.wait(for: "one that waits", "held === 1")
            try await window.run("window.time = 5000; own.look();")
            try await window.wait(for: "both", "own.index === 2")
            try await room.publish(1, after: 2)
            try await window.wait(for: "all three", "own.index === 3")
            #expect(try await window.run("return [skews, reports]") == [[4998, 4997], []])
            try await window.run("window.time = 3.5; own.look();")
            try await room.publish(1, after: 3)
            try await window.wait(for: "one that waits", "held === 1")
            try await window.run("window.time = 20; own.look();")
            try await window.wait(for: "all four", "own.index === 4")
            let reports = try await window.run("return reports")
            #expect(reports == [["v": 20, "index": 4, "skew": 16]])
        }
    }
}
