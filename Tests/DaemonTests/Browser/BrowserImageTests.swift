import Foundation
import TestSupport
import Testing

/// Images on the pages of browsers: files that are dropped, and what students see of them.
@Suite(.timeLimit(.minutes(5)), .endsProcesses, .inBrowsers) struct BrowserImageTests {
    private static let features = ["board.features=pages,images,lasso"]

    @Test
    func
        `slides stay sharp however many were seen; where more is seen at a time than is kept, all is smaller until it goes`()
        async throws
    {
        try await BrowserRoom.with { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/nowhere")
            let found = try await window.run(
                """
                const { ImageStore } = await import("/lectern/images.js");
                const asked = [];
                let answered = 0;
                const gateway = {
                    async request(path, { query: { page, width } }) {
                        asked.push(page);
                        const canvas = new OffscreenCanvas(width, width / 2);
                        canvas.getContext("2d").fillRect(0, 0, 1, 1);
                        const picture = await canvas.convertToBlob();
                        answered++;
                        return new Response(picture);
                    },
                };
                const store = new ImageStore(gateway, "r", () => "main");
                const wanted = 2048;
                // Draws pages of 8 MiB until nothing more is asked for; returns the widths that are there.
                const show = async (...pages) => {
                    for (let calm = 0; calm < 5; ) {
                        store.startPass();
                        const before = asked.length;
                        const bitmaps = pages.map((page) => store.picture("a", page, wanted));
                        await new Promise((done) => setTimeout(done, 20));
                        calm = asked.length === before && answered === before && bitmaps.every(Boolean) ? calm + 1 : 0;
                    }
                    return pages.map((page) => store.picture("a", page, wanted).width);
                };
                const widths = [];
                for (let page = 0; page < 20; page++) widths.push(...await show(page));
                const times = asked.length;
                const together = await show(...Array.from({ length: 12 }, (_, place) => 100 + place));
                return [Math.min(...widths), times, Math.max(...together), ...await show(0)];
                """)
            #expect(try found.numbers(4) == [2048, 20, 1024, 2048])
        }
    }

    @Test("a picture that is dropped with Alt is placed there, and students see it when their video does")
    func place() async throws {
        try await BrowserRoom.with(Self.features) { room, _ in
            try room.stopVideo()
            let teacher = try await room.teacher()
            let student = try await room.student()
            try await teacher.dropPicture(at: (0.25, 0.3))
            try await teacher.wait(forIndex: 1)
            // Green above, blue below.
            try await teacher.wait(forColour: "0 128 0", at: (0.25, 0.25))
            try await teacher.wait(forColour: "0 0 255", at: (0.25, 0.35))
            try await teacher.wait(for: "the news", "$('import-text').textContent.includes('placed on this page')")
            try await teacher.keepScreenshot("image-placed")
            #expect(try await student.inkedPixels() == 0)
            // Nobody has asked for it before its time.
            try await student.expectNoComplaints()
            try room.playVideo()
            try await student.wait(forIndex: 1)
            try await student.wait(forColour: "0 128 0", at: (0.25, 0.25))

            // It is moved and turned with the ink on it, by a half turn.
            try await teacher.drawWave(2, index: 2)
            let ben = try room.author("ben")
            try await ben.send(
                #"{"n":1,"e":6,"d":[{"x":100,"y":100},{"x":450,"y":100},{"x":450,"y":400},{"x":100,"y":400}],"m":[-1,0,0,-1,1024,768],"w":1024,"h":768}"#,
                appliedAt: 3)
            for window in [teacher, student] {
                try await window.wait(forIndex: 3)
                try await window.wait(forColour: "0 128 0", at: (0.75, 0.75))
                try await window.wait(forColour: "0 0 255", at: (0.75, 0.65))
                #expect(try await window.colour(at: (0.25, 0.25)) == "0 0 0")
            }
            try await student.keepScreenshot("image-student")
            try await student.expectNoComplaints()
        }
    }

    @Test(
        "slides that are dropped become pages, which students see turn with their video; a copy of one shows the same")
    func slides() async throws {
        try await BrowserRoom.withClass(Self.features) { room, teacher, student in
            try await teacher.drawWave(1, index: 1)
            try await teacher.dropSlides()
            try await teacher.wait(forPages: "0 [1] 2 3")
            try await teacher.wait(for: "the news", "$('import-text').textContent === 'slides.pdf: 3 new pages'")
            // Three images and a turn.
            for window in [teacher, student] {
                try await window.wait(forIndex: 5)
                try await window.wait(forColour: "255 0 0", at: (0.5, 0.5))
                #expect(try await window.colour(at: (0.01, 0.01)) == "255 0 0")
            }
            #expect(try await student.text(of: "$('page')") == "Page 2 of 4")
            // The small pictures show them.
            try await teacher.wait(
                for: "the small pictures",
                """
                [1, 2, 3].every((page) => {
                    const canvas = document.querySelector(`[data-page="${page}"] canvas`);
                    return canvas.width > 0 && canvas.getContext("2d").getImageData(9, 9, 1, 1).data[page - 1] === 255;
                })
                """)
            try await teacher.drawWave(4, index: 6)
            let difference = try await student.comparison(with: room)
            #expect(difference.mean <= 6 && difference.off <= 0.001, "\(difference)")

            try await teacher.click("page-copy")
            try await teacher.wait(forPages: "0 1 2 3 [4]")
            try await teacher.wait(forColour: "255 0 0", at: (0.01, 0.01))
            try await teacher.waitUntilSaved()
            let pictures = try await teacher.run(
                """
                const pixels = async (page) => {
                    const reply = await fetch(`/api/rooms/\(room.name)/board.png?cohort=head&page=${page}&width=512`);
                    return String(new Uint8Array(await reply.arrayBuffer()));
                };
                return await pixels(1) === await pixels(4);
                """)
            #expect(pictures == true)
            try await teacher.keepScreenshot("slides-teacher")
            try await student.keepScreenshot("slides-student")
            try await student.expectNoComplaints()
            try await teacher.expectNoComplaints(but: BrowserWindow.isUsual)
        }
    }

    @Test("a picture that comes later takes the place of its frame, and a larger canvas fetches a larger one")
    func later() async throws {
        try await BrowserRoom.with(Self.features) { room, _ in
            let window = try await BrowserWindow(at: "\(room.address)/healthz")
            let result = try await window.run(
                """
                const { ImageStore, Painter } = await import("/lectern.js");
                const canvas = document.createElement("canvas");
                // A gateway whose pictures are there from the third request on.
                let [requests, widths] = [0, []];
                const gateway = {
                    request: async (path, { query }) => {
                        widths.push(query.width);
                        if (++requests < 3) throw Object.assign(new Error("not yet"), { retryAfter: 10 });
                        const side = new OffscreenCanvas(query.width, query.width);
                        const context = side.getContext("2d");
                        context.fillStyle = "#00ff00";
                        context.fillRect(0, 0, query.width, query.width);
                        return new Response(await side.convertToBlob());
                    },
                };
                const images = new ImageStore(gateway, "room", () => "main");
                const painter = new Painter(canvas, images);
                const image = (index, asset, x) => ({ index, page: 0, author: "a", message:
                    { n: index, e: 5, i: asset, p: 0, d: [{ x, y: 100 }, { x: x + 200, y: 300 }] } });
                const a = "a".repeat(64);
                painter.reset([image(1, a, 100)], { style: "smooth", palette: ["#000000"], width: 1024, height: 768, pixels: 1024 });
                while (painter.progress < 1) await new Promise((resolve) => setTimeout(resolve, 5));
                const at = (x, y) => [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].join(" ");
                const until = async (isThere) => { while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5)); };
                const before = at(160, 200);
                const frame = at(100, 150);
                images.retry(a);
                await until(() => requests >= 2);
                images.retry(a);
                await until(() => at(160, 200) !== before);
                const after = at(160, 200);
                // A larger canvas needs a larger picture.
                painter.reset([image(1, a, 100)], { style: "smooth", palette: ["#000000"], width: 1024, height: 768, pixels: 4096 });
                await until(() => Math.max(...widths) === 1024);
                return { before, frame, after, width: widths[0] };
                """)
            #expect(result["before"] == "0 0 0 0")
            #expect(result["frame"] == "176 176 176 255")
            #expect(result["after"] == "0 255 0 255")
            #expect(result["width"] == 256)
            try await window.close()
        }
    }

    @Test func `what is no picture is refused in words, and nothing is left on the board`() async throws {
        try await BrowserRoom.with(Self.features) { room, _ in
            let teacher = try await room.teacher()
            try await teacher.run(
                """
                window.drop = (files, more = {}) => {
                    const dataTransfer = new DataTransfer();
                    for (const file of files) dataTransfer.items.add(file);
                    for (const type of ["dragenter", "dragover", "drop"]) {
                        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true, ...more }));
                    }
                };
                drop([new File(["GIF89a"], "a.gif", { type: "image/gif" })]);
                """)
            try await teacher.wait(for: "a refusal", "$('import-text').textContent.includes('Only PDF, PNG, JPEG')")
            try await teacher.run(
                "drop([new File([\"no picture\"], \"torn.png\", { type: \"image/png\" })], { altKey: true, clientX: 500, clientY: 400 });"
            )
            try await teacher.wait(
                for: "a refusal", "$('import-text').textContent.startsWith('torn.png: The file cannot be read')")
            try await teacher.keepScreenshot("import-refused")
            #expect(try await teacher.inkedPixels() == 0)
            #expect(try await teacher.text(of: "$('saved')") == "All saved")
        }
    }

    @Test func `a file of a board is saved when it has all images`() async throws {
        try await BrowserRoom.withTeacher { _, teacher in
            try await teacher.drawWave(1, saved: 1)
            let saved = try await teacher.run(
                """
                const [asked, made] = [[], []];
                const plain = window.fetch;
                window.fetch = async (...request) => {
                    if (!String(request[0]).includes("board.pdf")) return plain(...request);
                    asked.push(request[0]);
                    if (asked.length === 1) return new Response('{"error":{"code":"timeout","message":"Late."}}', { status: 504 });
                    if (asked.length === 2) return new Response("half", { headers: { "Ink-Incomplete": "1" } });
                    return plain(...request);
                };
                const make = URL.createObjectURL;
                URL.createObjectURL = (blob) => (made.push(blob), make.call(URL, blob));
                HTMLAnchorElement.prototype.click = new Proxy(HTMLAnchorElement.prototype.click, {
                    apply: (click, link) => link.href.startsWith("blob:") || click.call(link),
                });
                $("save-pdf").click();
                const words = () => document.querySelector(".file-words").textContent;
                const first = words();
                // No second file while one is being made.
                $("save-pdf").click();
                await until(() => made.length === 1);
                await until(() => words() === "");
                return [asked.length, await made[0].slice(0, 4).text(), first];
                """)
            #expect(saved == [3, "%PDF", "Making physics.pdf…"])
        }
    }

    @Test func `a page says why a file could not be made`() async throws {
        try await BrowserRoom.withTeacher { _, teacher in
            let words = try await teacher.run(
                """
                window.fetch = async () => new Response('{"error":{"code":"too-large","message":"Too many points."}}', { status: 422 });
                $("save-pdf").click();
                const words = () => document.querySelector(".file-words").textContent;
                await until(() => !words().startsWith("Making"));
                return [words(), $("save-pdf").hasAttribute("aria-busy")];
                """)
            #expect(words == ["The file could not be made: Too many points.", false])
        }
    }
}

extension BrowserWindow {
    /// Drops a PNG of 300 × 200 pixels on a part of the board, green above and blue below, with the Alt key.
    func dropPicture(at place: (Double, Double)) async throws {
        try await run(
            """
            const canvas = new OffscreenCanvas(300, 200);
            const context = canvas.getContext("2d");
            for (const [colour, top] of [["rgb(0 128 0)", 0], ["rgb(0 0 255)", 100]]) {
                context.fillStyle = colour;
                context.fillRect(0, top, 300, 100);
            }
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([await canvas.convertToBlob()], "flag.png", { type: "image/png" }));
            const { left, top, width, height } = $('board').getBoundingClientRect();
            for (const type of ["dragenter", "dragover", "drop"]) {
                $('board').dispatchEvent(new DragEvent(type, { dataTransfer, altKey: true, bubbles: true, cancelable: true,
                    clientX: left + width * \(place.0), clientY: top + height * \(place.1) }));
            }
            """)
    }

    /// Drops a PDF of a red, a green and a blue page, in the shape of the board.
    func dropSlides() async throws {
        try await run(
            """
            const pages = ["1 0 0", "0 1 0", "0 0 1"].map((colour) => `${colour} rg 0 0 400 300 re f`);
            const objects = [
                "<< /Type /Catalog /Pages 2 0 R >>",
                `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, place) => `${3 + 2 * place} 0 R`).join(" ")}] >>`,
                ...pages.flatMap((content, place) => [
                    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents ${4 + 2 * place} 0 R >>`,
                    `<< /Length ${content.length} >> stream\\n${content}\\nendstream`,
                ]),
            ];
            const text = `%PDF-1.4\\n${objects.map((body, place) => `${place + 1} 0 obj ${body} endobj\\n`).join("")}trailer << /Root 1 0 R >>\\n%%EOF\\n`;
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "slides.pdf", { type: "application/pdf" }));
            for (const type of ["dragenter", "dragover", "drop"]) {
                document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true, clientX: 9, clientY: 9 }));
            }
            """)
    }

    /// Red, green and blue of a pixel of the board.
    func colour(at place: (Double, Double)) async throws -> String {
        try await string(Self.pixel(place))
    }

    func wait(forColour colour: String, at place: (Double, Double)) async throws {
        try await wait(for: "the colour \(colour) at \(place)", "\(Self.pixel(place)) === '\(colour)'")
    }

    private static func pixel(_ place: (Double, Double)) -> String {
        """
        [...\(canvas).getContext("2d").getImageData(\(canvas).width * \(place.0), \(canvas).height * \(place.1), 1, 1).data].slice(0, 3).join(" ")
        """
    }
}
