import CCairo
import Foundation
import InkML
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Files of teachers by the command line and over HTTP: what is read where, passwords, rotated pages.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct TeacherFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    // What is read where.

    @Test func `render draws what import reads`() async throws {
        let ink = #"<ink xmlns="http://www.w3.org/2003/InkML"><trace timeOffset="40">0 0, 400 300, 800 0</trace></ink>"#
        let notes = try folder.write(Array(ink.utf8), "notes.inkml")
        let files = [
            notes, try folder.write(SlideFiles.pdf([(40, 30), (30, 40)]), "slides.pdf"),
            try folder.write(SlideFiles.jpeg(width: 40, height: 30), "photo.jpeg"),
        ]
        for file in files {
            for form in ["png", "svg", "pdf", "inkml"] {
                let (code, log) = try await LecternProcess.run("render", file, "-o", folder.path("out.\(form)"))
                #expect(code == 0, "\(file) as \(form): \(log)")
                #expect(try !folder.bytes("out.\(form)").isEmpty)
            }
        }
        // The PDF's second page is the board's, and all are in a PDF.
        #expect(
            try await LecternProcess.run("render", files[1], "-o", folder.path("a.png"), "--page", "1").exitCode == 0)
        #expect(try Picture(folder.bytes("a.png"))[400, 200] == Picture.colour(SlideFiles.colour(ofPage: 1)))
        #expect(try await LecternProcess.run("render", files[1], files[0], "-o", folder.path("all.pdf")).exitCode == 0)
        let (code, log) = try await LecternProcess.run("render", folder.path("all.pdf"), "-o", folder.path("again.pdf"))
        #expect(code == 0 && log.contains("3 pages"), "\(log)")
        // The ink is as large as 1024 × 768 allows, and keeps its time and its corner.
        #expect(try await LecternProcess.run("render", notes, "-o", folder.path("out.inkml")).exitCode == 0)
        let drawn = try InkDocument(inkML: try folder.bytes("out.inkml"))
        let stroke = try #require(drawn.strokes.first)
        #expect(stroke.time == 40 && stroke.points.count == 7)
        #expect(stroke.points[3] == StrokePoint(x: 512, y: 558))
        // What is drawn of that is the same again: ink of a board has its own points.
        #expect(
            try await LecternProcess.run("render", folder.path("out.inkml"), "-o", folder.path("twice.inkml")).exitCode
                == 0)
        #expect(try folder.bytes("twice.inkml") == folder.bytes("out.inkml"))
    }

    @Test func `import reads what export writes, and a file that it cannot read has a code`() async throws {
        try await BoardService.with { [self] service in
            let stroke = #"{"n":1,"l":9,"d":[{"x":100,"y":100},{"x":900,"y":600}]}"#
            let posted = try await service.http.send("POST", "/api/rooms/r/strokes?author=anna", body: stroke)
            #expect(posted.statusCode == 200, "\(posted.text)")
            for form in ["png", "pdf", "inkml", "svg"] {
                let file = folder.path("board.\(form)")
                let exported = try await service.lectern("export", "--room", "r", "-o", file)
                #expect(exported.exitCode == 0, "\(exported.log)")
                let (code, log) = try await service.lectern("import", file, "--room", form, "--author", "ann")
                guard form != "svg" else {
                    #expect(code == 1 && log.contains("not-inkml: ") && log.contains("as PDF or PNG"), "\(log)")
                    continue
                }
                #expect(code == 0, "\(form): \(log)")
                let page = form == "inkml" ? 0 : 1
                let picture = try Picture(try await service.picture(form, page: page))
                #expect(picture[500, 350] == [0, 0, 0] && picture[500, 600] == [255, 255, 255], "\(form)")
            }
        }
        for (bytes, name) in [(Array("PK\u{3}\u{4}".utf8), "slides.pptx"), ([], "empty"), ([0x89, 0x50], "cut.png")] {
            let file = try folder.write(bytes, name)
            let (code, log) = try await LecternProcess.run(
                "import", file, "--room", "r", "--author", "ann", "--nats", "nats://127.0.0.1:1")
            #expect(code == 1 && log.hasPrefix("lectern: \(file): unknown-format: "), "\(log)")
        }
    }

    /// Office writes corners without points between them.
    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: TeacherFileTests.zigzag), "needs ../shared/data/cases"))
    func `a zigzag of four points is seen as straight lines with corners`() async throws {
        let (code, log) = try await LecternProcess.run("render", Self.zigzag, "-o", folder.path("zigzag.png"))
        #expect(code == 0, "\(log)")
        // Down, up and down again.
        let picture = try Picture(folder.bytes("zigzag.png"))
        let ink = (0..<768).flatMap { y in (0..<1024).filter { picture[$0, y] != [255, 255, 255] }.map { ($0, y) } }
        #expect(!ink.isEmpty)
        let (left, right) = (ink.map(\.0).min() ?? 0, ink.map(\.0).max() ?? 0)
        let (top, bottom) = (ink.map(\.1).min() ?? 0, ink.map(\.1).max() ?? 0)
        #expect(Double(right - left) / Double(bottom - top) > 1.4, "\(left) \(right) \(top) \(bottom)")
        for share in [0.25, 0.5, 0.75] {
            // Half-way up each of the three lines there is ink, and none between them.
            let row = top + Int(Double(bottom - top) * share)
            var runs = 0
            for x in 1..<1024 where picture[x, row] != [255, 255, 255] && picture[x - 1, row] == [255, 255, 255] {
                runs += 1
            }
            #expect(runs == 3, "row \(row)")
        }
        // Corners reach the edges of the ink.
        for (place, row) in [(0.0, top), (1, bottom), (2, top), (3, bottom)] {
            let x = left + Int(Double(right - left) * place / 3)
            let near = ((row - 8)...(row + 8)).contains { y in
                (0..<768).contains(y)
                    && ((x - 12)...(x + 12)).contains { (0..<1024).contains($0) && picture[$0, y] != [255, 255, 255] }
            }
            #expect(near, "corner \(Int(place))")
        }
    }

    private static let zigzag = PackageRoot.path(to: "../shared/data/cases/inkml-office-f-resolution/office.inkml")

    // Passwords.

    @Test(.enabled(if: EncryptedPDF.canBeMade, "needs qpdf"))
    func `an encrypted PDF comes with its password, and is shown later without it`() async throws {
        let secret = "gehe im% ü"
        let file = try EncryptedPDF.make(SlideFiles.pdf([(40, 30)]), password: secret, in: folder.url)
        try await BoardService.with { [self] service in
            func post(_ path: String, _ password: String?) async throws -> HTTPClient.Response {
                let headers = password.map { [("Ink-Password", $0)] } ?? []
                return try await service.http.send("POST", "/api/rooms/r/\(path)", headers: headers, bytes: file)
            }
            let encoded = try #require(secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            for (password, status) in [(nil, 422), ("wrong", 422), ("%zz", 400)] as [(String?, Int)] {
                for path in ["assets", "import?author=anna"] {
                    let answer = try await post(path, password)
                    #expect(answer.statusCode == status)
                    #expect(answer.text.contains("needs-password") == (status == 422), "\(answer.text)")
                }
            }
            #expect(try await service.http.get("/api/rooms/r").statusCode == 404)
            let imported = try await post("import?author=anna", encoded)
            #expect(imported.statusCode == 200, "\(imported.text)")
            let colour = Picture.colour(SlideFiles.colour(ofPage: 0))
            #expect(try Picture(try await service.picture("r", page: 1))[256, 192] == colour)
            // The same file is the same asset, whoever brings it.
            let id = try #require(AnyJSON.decode(imported.bytes)["id"])
            #expect(try AnyJSON.decode(try await post("assets", encoded).bytes)["id"] == id)
            let metrics = try await service.http.get("/metrics").text
            #expect(metrics.contains(#"lectern_asset_uploads_total{outcome="needs-password"} 4"#))

            let locked = try folder.write(file, "locked.pdf")
            let password = try folder.write(Array("\(secret)\r\nmore\n".utf8), "password.txt")
            for (more, code) in [([], 1), (["--password", "wrong"], 1), (["--password-file", password], 0)]
                as [([String], Int32)]
            {
                for command in [
                    ["import", locked, "--room", "s", "--author", "ann", "--nats", service.nats.url],
                    ["render", locked, "-o", folder.path("locked.png")],
                ] {
                    let (exitCode, log) = try await LecternProcess.run(arguments: command + more)
                    #expect(exitCode == code, "\(command[0]) \(more): \(log)")
                    #expect(log.contains(": needs-password: ") == (code == 1), "\(log)")
                }
            }
            #expect(try Picture(folder.bytes("locked.png"))[256, 192] == colour)
            #expect(try Picture(try await service.picture("s", page: 1))[256, 192] == colour)
            // Nothing of the password is in the log or in the store.
            #expect(service.daemon.lines(with: secret).isEmpty && service.daemon.lines(with: encoded).isEmpty)
            let manifest = try await JetStream(service.connection).streamInfo("INK_ASSETS")
            #expect(manifest.messages > 0)
        }
    }

    // Rotation.

    @Test func `a page is rotated by quarters, ink and slide, and four of them lead back`() async throws {
        try await BoardService.with { service in
            func rotate(_ page: Int, _ body: String, _ room: String = "r") async throws -> HTTPClient.Response {
                try await service.http.send("POST", "/api/rooms/\(room)/pages/\(page)/rotate?author=anna", body: body)
            }
            // A portrait page: its upper left quarter is coloured. On the board it is 576 wide and 768 high.
            let file = SlideFiles.pdf([(300, 400), (300, 400)])
            let imported = try await service.http.send(
                "POST", "/api/rooms/r/import?author=anna&rotate=270", bytes: file)
            #expect(imported.statusCode == 200, "\(imported.text)")
            let (first, second) = (
                Picture.colour(SlideFiles.colour(ofPage: 0)), Picture.colour(SlideFiles.colour(ofPage: 1))
            )
            // The middles of the quarters of the board: upper left and right, lower left and right.
            func quarters(_ page: Int, _ width: Double = 1024) async throws -> [[Int]] {
                let picture = try Picture(try await service.picture("r", page: page))
                let x = [512 - width / 4, 512 + width / 4].map { Int($0) }
                return [picture[x[0], 192], picture[x[1], 192], picture[x[0], 576], picture[x[1], 576]]
            }
            let white = [255, 255, 255]
            // Turned left, the upper left quarter is the lower left one; the page fills the board.
            #expect(try await quarters(1) == [white, white, first, white])
            #expect(try await rotate(1, #"{"by":90}"#).text == #"{"page":1,"by":90}"#)
            #expect(try await quarters(1, 576) == [first, white, white, white])
            #expect(try await rotate(1, "").statusCode == 200)
            #expect(try await quarters(1) == [white, first, white, white])
            #expect(try await rotate(1, #"{"by":180,"t":7000}"#).statusCode == 200)
            #expect(try await quarters(1) == [white, white, first, white])
            // The other page stays.
            #expect(try await quarters(2) == [white, white, second, white])

            // Ink comes along, and an undo takes a rotation back.
            let line = #"{"n":1,"g":2,"l":40,"c":0,"w":1024,"h":768,"d":[{"x":700,"y":100},{"x":900,"y":100}]}"#
            #expect(
                try await service.http.send("POST", "/api/rooms/r/strokes?author=anna", body: line).statusCode == 200)
            #expect(try Picture(try await service.picture("r", page: 2))[800, 100] == [0, 0, 0])
            #expect(try await rotate(2, #"{"by":180}"#).statusCode == 200)
            let turned = try Picture(try await service.picture("r", page: 2))
            #expect(turned[224, 668] == [0, 0, 0] && turned[800, 100] == second && turned[768, 192] == second)
            // So does a copy, an SVG and a PDF.
            let copied = try await service.http.send("POST", "/api/rooms/r/pages/2/copy?author=anna", body: "")
            #expect(copied.text == #"{"page":3}"#)
            #expect(try await service.picture("r", page: 3) == service.picture("r", page: 2))
            let svg = try await service.http.get("/api/rooms/r/board.svg?cohort=head&page=2")
            #expect(svg.statusCode == 200 && svg.text.contains("<image"), "\(svg.text.prefix(400))")
            #expect(try await service.http.get("/api/rooms/r/board.pdf?cohort=head").statusCode == 200)

            for (page, body, status) in [
                (9, "", 404), (1000, "", 400), (1, #"{"by":45}"#, 400), (1, #"{"t":"now"}"#, 400), (1, "[]", 400),
            ] {
                #expect(try await rotate(page, body).statusCode == status, "\(page) \(body)")
            }
            let wrong = try await service.http.send("POST", "/api/rooms/r/import?author=anna&rotate=45", bytes: file)
            #expect(wrong.statusCode == 400)
            // Nothing on it: nothing is written.
            let index = try await service.head("r").reply.index
            #expect(try await rotate(0, "").statusCode == 200)
            #expect(try await service.head("r").reply.index == index)
        }
    }

    @Test(.enabled(if: InstalledProgram("pdftoppm") != nil, "needs pdftoppm"))
    func `pages of a PDF are seen as its reader shows them, whatever their boxes, turns and units`() async throws {
        let pages: [(entries: String, width: Double, height: Double)] = [
            ("/MediaBox [0 0 400 300]", 400, 300), ("/MediaBox [0 0 400 300] /Rotate 90", 300, 400),
            ("/MediaBox [0 0 300 400] /Rotate 270", 400, 300),
            ("/MediaBox [-50 20 350 320] /CropBox [0 60 200 160]", 200, 100),
            ("/MediaBox [-100 -100 300 200] /CropBox [-20 -30 180 170] /Rotate 90", 200, 200),
            // Units only say how large the paper is.
            ("/MediaBox [0 0 400 300] /UserUnit 2", 400, 300), ("/MediaBox [0 0 600 150] /Rotate 180", 600, 150),
        ]
        let marks = "1 0 0 rg 0 20 90 60 re f 0 0.6 0 rg 120 100 70 40 re f 0 0 1 rg 160 20 20 60 re f"
        let bytes = SamplePDF.pages(pages.map(\.entries), content: marks)
        try await BoardService.with { [self] service in
            let reader = try #require(InstalledProgram("pdftoppm"))
            func read(_ page: Int, of file: String, resolution: Double) throws -> Picture {
                let options = ["-png", "-singlefile", "-cropbox", "-r", "\(resolution)"]
                return try Picture(try #require(try reader.run(options + ["-f", "\(page)", "-l", "\(page)", file])))
            }
            func board(_ path: String) async throws -> [UInt8] {
                try await eventually("the board is drawn") {
                    let answer = try await service.http.get("/api/rooms/paper/\(path)")
                    return answer.statusCode == 200 ? answer.bytes : nil
                }
            }
            for form in ["paper", "picture"] {
                let imported = try await service.importFile(bytes, "author=anna&as=\(form)", room: form)
                #expect(try imported.pages == Array(1...pages.count))
            }
            let file = try folder.write(bytes, "boxes.pdf")
            let document = try folder.write(try await board("board.pdf?cohort=head"), "board.pdf")
            for (number, page) in zip(1..., pages) {
                // In the middle of the board, as large as that allows.
                let scale = min(1024 / page.width, 768 / page.height)
                let place = (x: Int((1024 - page.width * scale) / 2), y: Int((768 - page.height * scale) / 2))
                let shown = try read(number, of: file, resolution: 72 * scale)
                let picture = try await service.picture("paper", page: number)
                var pictures = [
                    "paper": try Picture(picture),
                    "picture": try Picture(try await service.picture("picture", page: number)),
                    // Page 0 is there, too. A board unit is a 96th of an inch.
                    "PDF": try read(number + 1, of: document, resolution: 96),
                ]
                if let program = InstalledProgram("rsvg-convert") {
                    let svg = try folder.write(try await board("board.svg?cohort=head&page=\(number)"), "board.svg")
                    pictures["SVG"] = try Picture(try #require(try program.run([svg])))
                }
                for (form, picture) in pictures {
                    let difference = picture.difference(from: shown, at: place)
                    // Edges fall on other pixels.
                    #expect(difference < 0.01, "page \(number) as \(form): \(difference)")
                }
                #expect(try await service.copy(number, of: "paper", #"{"to":"copy"}"#).statusCode == 200)
                #expect(try await service.picture("copy", page: number) == picture)
            }
        }
    }

    @Test func `the command rotates all slides, and single ones otherwise`() async throws {
        let file = try folder.write(SlideFiles.pdf([(400, 300), (400, 300), (400, 300)]), "scan.pdf")
        try await BoardService.with { service in
            let command = ["import", file, "--room", "r", "--author", "ann", "--nats", service.nats.url]
            let (code, log) = try await LecternProcess.run(
                arguments: command + ["--rotate", "2:90", "--rotate", "180"])
            #expect(code == 0, "\(log)")
            let pictures = try await [1, 2, 3].asyncMap { try Picture(try await service.picture("r", page: $0)) }
            #expect(pictures[0][768, 576] == Picture.colour(SlideFiles.colour(ofPage: 0)))
            // 4 by 3 upright is 576 wide.
            #expect(pictures[1][656, 192] == Picture.colour(SlideFiles.colour(ofPage: 1)))
            #expect(pictures[1][100, 384] == [255, 255, 255])
            #expect(pictures[2][768, 576] == Picture.colour(SlideFiles.colour(ofPage: 2)))
            for wrong in ["45", "0:90", "1:", ":90", "1:2:90"] {
                #expect(try await LecternProcess.run(arguments: command + ["--rotate", wrong]).exitCode == 64)
            }
        }
    }
}

/// The pixels of a PNG file, by cairo.
private struct Picture {
    private let width: Int
    private let height: Int
    private let stride: Int
    private let pixels: [UInt8]

    init(_ file: [UInt8]) throws {
        var rest = file[...]
        let surface = withUnsafeMutablePointer(to: &rest) { rest in
            cairo_image_surface_create_from_png_stream(
                { closure, data, count in
                    guard let rest = closure?.assumingMemoryBound(to: ArraySlice<UInt8>.self),
                        rest.pointee.count >= Int(count)
                    else { return CAIRO_STATUS_READ_ERROR }
                    for place in 0..<Int(count) { data?[place] = rest.pointee.removeFirst() }
                    return CAIRO_STATUS_SUCCESS
                }, rest)
        }
        defer { cairo_surface_destroy(surface) }
        guard let data = cairo_image_surface_get_data(surface) else { throw Unexpected("no PNG") }
        (width, height) = (Int(cairo_image_surface_get_width(surface)), Int(cairo_image_surface_get_height(surface)))
        stride = Int(cairo_image_surface_get_stride(surface))
        pixels = Array(UnsafeBufferPointer(start: data, count: stride * height))
    }

    /// Red, green and blue.
    subscript(_ x: Int, _ y: Int) -> [Int] {
        precondition(x >= 0 && x < width && y >= 0 && y < height)
        return [2, 1, 0].map { Int(pixels[y * stride + 4 * x + $0]) }
    }

    /// The part of its pixels that are not as in another picture, which lies at a place on white.
    func difference(from other: Picture, at place: (x: Int, y: Int)) -> Double {
        var (wrong, all) = (0, 0)
        // A ninth of them tells.
        for y in Swift.stride(from: 1, to: height, by: 3) {
            for x in Swift.stride(from: 1, to: width, by: 3) {
                let (column, row) = (x - place.x, y - place.y)
                let isInside = (0..<other.width).contains(column) && (0..<other.height).contains(row)
                let expected = isInside ? other[column, row] : [255, 255, 255]
                all += 1
                if zip(self[x, y], expected).contains(where: { abs($0 - $1) > 60 }) { wrong += 1 }
            }
        }
        return Double(wrong) / Double(all)
    }

    static func colour(_ parts: [Double]) -> [Int] { parts.map { Int(($0 * 255).rounded()) } }
}
