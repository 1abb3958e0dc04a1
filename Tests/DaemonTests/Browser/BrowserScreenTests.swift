import Foundation
import TestSupport
import Testing

/// The pages on screens from the smallest telephone to a large desk, upright and on their sides.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserScreenTests {
    private static let sizes: [(width: Int, height: Int)] = [
        (320, 568), (360, 640), (390, 844), (768, 1024), (900, 1000), (1000, 1200), (720, 1280), (1440, 2560),
    ]

    /// Where the board, the video and the foot are, which targets are small, and whether the page has to be scrolled.
    private static let look = """
        const box = (id) => document.getElementById(id).getBoundingClientRect();
        const [board, video] = [box("board"), box("video-side")];
        const page = document.scrollingElement;
        const rows = new Set([...document.querySelector(".foot").querySelectorAll("#step, a")].map((item) =>
            Math.round(item.getBoundingClientRect().bottom / 12)));
        return {
            least: Math.min(board.width, board.height),
            isInside: board.left >= 0 && board.top >= 0 && board.right <= innerWidth && board.bottom <= innerHeight,
            isApart: video.width === 0 || video.bottom <= board.top + 1 || video.right <= board.left + 1,
            isScrolled: page.scrollWidth > page.clientWidth || page.scrollHeight > page.clientHeight,
            rows: rows.size,
            small: [...document.querySelectorAll("a, button, select, input")].filter((target) => target.checkVisibility())
                .map((target) => [target.id, (target.closest("label") ?? target).getBoundingClientRect()])
                .filter(([, { width, height }]) => width < 44 || height < 44).map(([id]) => id),
        };
        """

    @Test(
        "on every screen the board's shorter side is 55 % of the window's, beside or below the video",
        arguments: ["", "?demo=2", "?video=none.webm"])
    func boards(query: String) async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let window = try await room.student(query)
            try await window.run("$('notice').style.display = 'none'")
            for (width, height) in Self.sizes.flatMap({ [($0.width, $0.height), ($0.height, $0.width)] }) {
                try await window.resize(to: BrowserWindow.Size(width: width, height: height))
                let seen = try await window.run(Self.look)
                let name = "\(query) \(width) x \(height): \(seen)"
                #expect((seen["least"]?.double ?? 0) >= 0.55 * Double(min(width, height)), "\(name)")
                #expect(seen["isInside"] == true && seen["isApart"] == true, "\(name)")
                #expect(seen["isScrolled"] == false, "\(name)")
                #expect(seen["small"] == [], "\(name)")
                #expect((seen["rows"]?.double ?? 9) <= 2, "\(name)")
                if width < 1100, height < 1100 {
                    let kind = query.prefix { $0 != "=" }.dropFirst()
                    try await window.keepScreenshot("screen-\(kind)-\(width)x\(height)")
                }
            }
        }
    }

    @Test func `on every screen each tool of a teacher lies in its group, beside no other`() async throws {
        try await BrowserRoom.with { room, _ in
            let teacher = try await room.teacher()
            for (width, height) in Self.sizes.flatMap({ [($0.width, $0.height), ($0.height, $0.width)] }) {
                try await teacher.resize(to: BrowserWindow.Size(width: width, height: height))
                let outside = try await teacher.run(
                    """
                    return [...document.querySelectorAll(".tools button")].filter((button) => {
                        const { bottom } = button.closest(".group").getBoundingClientRect();
                        return button.checkVisibility() && button.getBoundingClientRect().bottom > bottom + 1;
                    }).map(({ id, title }) => id || title);
                    """)
                #expect(outside == [], "\(width) x \(height)")
            }
            // Where the board leaves room below it, nothing is scrolled to.
            try await teacher.resize(to: BrowserWindow.Size(width: 390, height: 844))
            #expect(try await teacher.run("return $('elements').scrollWidth - $('elements').clientWidth") == 0)
        }
    }

    @Test func `a window that goes to a screen with finer pixels has the board in these`() async throws {
        try await BrowserRoom.with(strokes: 3) { room, _ in
            let student = try await BrowserWindow()
            // An emulated screen changes no size in its own pixels, and tells no list of media queries.
            try await student.runFirst(
                """
                delete ResizeObserverEntry.prototype.devicePixelContentBoxSize;
                globalThis.mediaLists = [];
                {
                    const original = globalThis.matchMedia;
                    globalThis.matchMedia = (query) => {
                        const list = original.call(globalThis, query);
                        mediaLists.push(list);
                        return list;
                    };
                }
                """)
            try await student.open(room.page)
            try await student.wait(forIndex: 3)
            let width = try #require(try await student.run("return $('board').width").double)
            for scale in [2.0, 1.5] {
                try await student.resize(to: BrowserWindow.Size(width: 1440, height: 1000, scale: scale))
                try await student.run(
                    """
                    for (const list of [...mediaLists]) {
                        if (list.media.includes("resolution") && !list.matches) list.dispatchEvent(new Event("change"));
                    }
                    """)
                try await student.wait(for: "\(scale) pixels", "Math.abs($('board').width - \(width * scale)) <= 2")
            }
            try await student.expectNoComplaints()
        }
    }

    @Test func `a button hides the video, gives its place to the board, and brings it back`() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await room.student("?demo=2", .phone)
            try await window.resize(to: BrowserWindow.Size(width: 844, height: 390))
            let before = try #require(try await window.run("return $('board').clientWidth").double)
            try await window.run("$('video-toggle').click()")
            #expect(try await window.run("return $('board').clientWidth").double ?? 0 >= before)
            #expect(try await window.run("return $('video-side').offsetWidth") == 1)
            try await window.resize(to: BrowserWindow.Size(width: 1440, height: 1000))
            let wide = try #require(try await window.run("return $('board').clientWidth").double)
            try await window.press("v")
            #expect(try await window.run("return $('board').clientWidth").double ?? .infinity < wide)
            try await window.wait(for: "the video", "$('video-side').offsetWidth > 200 && !$('video-side').inert")
        }
    }
}
