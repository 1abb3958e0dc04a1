import CoreTrial
import Cryptography
import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// `lectern render`, without a server.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct RenderTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func `a page of specimens has a name and handwriting for every ink style, in every format`() async throws {
        for format in ["png", "svg", "pdf"] {
            let (code, log) = try await LecternProcess.run(
                "render", "--specimens", "-o", folder.path("styles.\(format)"))
            #expect(code == 0 && log.contains("\(KnownCalls.styles.count) specimens"), "\(log)")
            #expect(try Data(contentsOf: URL(filePath: folder.path("styles.\(format)"))).count > 5000)
        }
        let page = try String(contentsOfFile: folder.path("styles.svg"), encoding: .utf8)
        // A colour for the names and one for each hand; hands of seven strokes.
        for colour in ["#8a8f98", "#1b2a49", "#7a1f3d", "#145a4a", "#3d2c6b", "#8a3b12", "#0b4f6c"] {
            #expect(page.split(separator: colour).count > 7, "\(colour)")
        }
        let (code, log) = try await LecternProcess.run("render", "demo", "--specimens", "-o", folder.path("none.svg"))
        #expect(code == 64 && log.contains("without a lesson"))
        #expect(try await LecternProcess.run("render", "-o", folder.path("none.svg")).exitCode == 64)
    }

    @Test func `standard input is rendered`() async throws {
        let lesson = """
            {"n":1,"t":0,"d":[{"x":1,"y":1},{"x":9,"y":9}]}
            {"n":2,"t":100,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":3,"a":2,"t":200}

            """
        try Data(lesson.utf8).write(to: URL(filePath: folder.path("lesson.ndjson")))
        let process = try LecternProcess(
            ["render", "-", "-o", folder.path("board.svg")], input: folder.path("lesson.ndjson"))
        #expect(await process.exitCode() == 0)
        #expect(process.log.contains("operation 3, 1 strokes"), "\(process.log)")
        // Without any input the lesson is empty.
        let (code, log) = try await LecternProcess.run("render", "-", "-o", folder.path("empty.svg"))
        #expect(code == 0)
        #expect(log.contains("operation 0, 0 strokes"))
    }

    @Test func `a picture is of the page that is shown or named, a PDF has all pages in their order`() async throws {
        // Page 2 is hidden, page 0 comes last.
        let lesson = """
            {"n":1,"t":0,"c":1,"d":[{"x":1,"y":1},{"x":9,"y":9}]}
            {"n":2,"t":100,"c":2,"g":1,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":3,"t":150,"c":3,"g":2,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":4,"a":5,"g":1,"t":200}
            {"n":5,"a":6,"v":[1,0],"t":300}

            """
        try Data(lesson.utf8).write(to: URL(filePath: folder.path("lesson.ndjson")))
        let colours = ["#d92020", "#1f4fd8", "#1a9850"]
        for (options, page) in [([], 1), (["--page", "0"], 0), (["--page", "2"], 2)] {
            let arguments = ["render", folder.path("lesson.ndjson"), "-o", folder.path("board.svg")] + options
            let process = try LecternProcess(arguments)
            #expect(await process.exitCode() == 0)
            #expect(process.log.contains("operation 5, page \(page), 1 strokes"), "\(process.log)")
            let picture = try String(contentsOfFile: folder.path("board.svg"), encoding: .utf8)
            #expect(colours.indices.filter { picture.contains(colours[$0]) } == [page])
        }
        let (code, log) = try await LecternProcess.run(
            "render", folder.path("lesson.ndjson"), "-o", folder.path("board.pdf"))
        #expect(code == 0 && log.contains("operation 5, 2 pages, 2 strokes"), "\(log)")
        let document = String(decoding: try Data(contentsOf: URL(filePath: folder.path("board.pdf"))), as: UTF8.self)
        #expect(document.contains("/Count 2"))
        let wrong = try await LecternProcess.run("render", "demo", "-o", folder.path("none.svg"), "--page", "1000")
        #expect(wrong.exitCode == 64)
    }

    @Test func `images show files that are given, and frames without, and lassos cut them`() async throws {
        let file = SlideFiles.pdf([(40, 30)])
        let id = AssetID(digest: SHA256.hash(file).bytes)?.description ?? ""
        let lesson = """
            {"n":1,"t":0,"e":5,"i":"\(id)","w":400,"h":300,"d":[{"x":0,"y":0},{"x":200,"y":150}]}
            {"n":2,"t":0,"e":5,"i":"\(id)","p":7,"w":400,"h":300,"d":[{"x":200,"y":0},{"x":400,"y":150}]}
            {"n":3,"t":0,"e":6,"w":400,"h":300,"d":[{"x":0,"y":0},{"x":50,"y":0},{"x":0,"y":300}]}

            """
        try Data(lesson.utf8).write(to: URL(filePath: folder.path("lesson.ndjson")))
        try Data(file).write(to: URL(filePath: folder.path("slides.pdf")))
        try Data("GIF89a".utf8).write(to: URL(filePath: folder.path("other.gif")))
        let arguments = ["render", folder.path("lesson.ndjson"), "-o", folder.path("board.svg")]
        func picture(_ options: [String]) async throws -> (images: Int, frames: Int, clips: Int) {
            let process = try LecternProcess(arguments + options)
            #expect(await process.exitCode() == 0)
            #expect(process.log.contains("operation 3, 0 strokes, 2 images, 1 lassos"), "\(process.log)")
            let picture = try String(contentsOfFile: folder.path("board.svg"), encoding: .utf8)
            return (
                picture.ranges(of: "<image ").count, picture.ranges(of: "#b0b0b0").count,
                picture.ranges(of: "clip-path=").count
            )
        }
        // The file has no page 7.
        #expect(try await picture(["--asset", folder.path("slides.pdf")]) == (1, 1, 1))
        #expect(try await picture([]) == (0, 2, 1))
        let missing = try await LecternProcess.run(
            "render", folder.path("lesson.ndjson"), "-o", folder.path("none.svg"), "--asset", folder.path("none.pdf"))
        #expect(missing.exitCode == 1 && missing.log.hasPrefix("lectern: \(folder.path("none.pdf")): cannot be read: "))
        // One that no image shows is not opened.
        #expect(try await picture(["--asset", folder.path("other.gif")]) == (0, 2, 1))
    }

    @Test func `a lesson that ends before the requested operation is not rendered`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", folder.path("board.svg"), "--at", "290")
        #expect(code == 1)
        #expect(log == "lectern: demo ends at operation 289, before --at 290\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path("board.svg")))
    }

    @Test func `a missing folder is reported by its name`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", folder.path("none/board.svg"))
        #expect(code == 1)
        #expect(
            log
                == "lectern: \(folder.path("none/board.svg")): cannot be written: there is no folder \(folder.path("none"))\n"
        )
    }
}
