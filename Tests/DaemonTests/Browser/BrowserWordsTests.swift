import Foundation
import TestSupport
import Testing

/// What a page says where it cannot do what it is for.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserWordsTests {
    @Test("where nothing is, a browser gets a page with the next step, and a script the JSON error")
    func notFound() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            for (path, words) in [
                ("/rooms/physics/nothing", "nothing at this address"), ("/board", "nothing at this address"),
                ("/api/rooms/physics/board.png?width=0", "not possible"),
                ("/api/rooms/physics", "Nobody has written to this room yet"),
            ] {
                try await window.open(room.address + path)
                let text = try await window.text(of: "document.body")
                #expect(text.contains(words) && !text.contains("{"), "\(path): \(text)")
                #expect(try await window.run("return document.querySelector('main a').href") == "\(room.address)/")
                // The style sheet is there.
                #expect(
                    try await window.run("return getComputedStyle(document.querySelector('main')).display")
                        == "grid")
                let status = try await window.run(
                    "const reply = await fetch(location.href); return [reply.status >= 400, (await reply.json()).error.code.length > 0]"
                )
                #expect(status == [true, true], "\(path)")
            }
            // What stands in an address is no markup.
            try await window.open("\(room.address)/%3Cscript%3Ealert(1)%3C/script%3E")
            #expect(try await window.run("return document.querySelectorAll('script:not([src])').length") == 0)
        }
    }

    @Test(
        "a name that no room has, a room that nobody has written to, and a link that counts no more: words and the next step"
    )
    func rooms() async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            // The last one is not in UTF-8.
            for (path, meant) in [
                ("My%20Room", "my-room"), ("My%20Room/teach", "my-room/teach"), ("Caf%E9", "caf-e9"),
            ] {
                try await window.open("\(room.address)/rooms/\(path)")
                try await window.wait(for: "the notice", "!$('notice').hidden")
                #expect(try await window.text(of: "$('notice')").contains("There is no such room"))
                let link = try await window.run("return $('notice').querySelector('a').href")
                #expect(link == "\(room.address)/rooms/\(meant)")
            }
            try await window.open(room.page)
            try await window.wait(
                for: "the words", "!$('empty').hidden && $('empty').innerText.includes('Nobody has written')")
            try room.playVideo()
            try await room.publish(1)
            try await window.wait(forIndex: 1)
            #expect(try await window.isTrue("$('empty').hidden"))
        }
    }

    @Test("a browser without what is needed is told so", arguments: ["findLast", "syntax"])
    func oldBrowser(lack: String) async throws {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow()
            try await window.runFirst(
                lack == "syntax"
                    // As where the page's script, which comes after this one, cannot be read.
                    ? """
                    document.addEventListener("load", ({ target }) => {
                        if (!/needs/.test(target.src)) return;
                        dispatchEvent(new ErrorEvent("error", { message: "Uncaught SyntaxError: x" }));
                    }, true);
                    """ : "delete Array.prototype.findLast")
            for page in ["/", "/rooms/\(room.name)", "/rooms/\(room.name)/teach?author=anna"] {
                try await window.open(room.address + page)
                try await window.wait(for: "the words", "document.body.innerText.includes('This browser is too old')")
            }
            try await window.open("\(room.address)/?language=zh")
            try await window.wait(for: "Chinese words", "document.body.innerText.includes('此浏览器太旧')")
        }
    }
}
