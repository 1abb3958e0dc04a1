import Cryptography
import NATSClient
import StrokeWire
import TestSupport
import Testing

/// Boards with images and lassos, from the built daemon.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct ImageBoardTests {
    private static let file = SlideFiles.pdf([(400, 300)])

    private struct Board: Sendable {
        let http: HTTPClient

        func picture(
            _ cohort: String, _ form: String = "png", _ more: String = "", unless tag: String? = nil
        ) async throws -> HTTPClient.Response {
            try await http.send(
                "GET", "/api/rooms/physics/board.\(form)?cohort=\(cohort)\(more)",
                headers: tag.map { [("If-None-Match", $0)] } ?? [])
        }

        /// The picture after an operation, once it is there.
        func picture(_ cohort: String, at index: Int) async throws -> [UInt8] {
            try await eventually("operation \(index) in \(cohort)") {
                let answer = try await picture(cohort)
                return answer.fields["ink-index"] == "\(index)" ? answer.bytes : nil
            }
        }
    }

    @Test func `an image is a frame until its file is there, and a cohort sees it and its move when they are released`()
        async throws
    {
        try await BoardService.with { service in
            let board = Board(http: service.http)
            let ann = try ScriptedAuthor("ann", room: "physics", on: service.connection)
            try ann.clock(1000)
            try await ann.send(
                #"{"n":1,"l":9,"t":0,"w":400,"h":300,"d":[{"x":9,"y":9},{"x":390,"y":20}]}"#, appliedAt: 1)
            let ink = try await board.picture("main", at: 1)

            // The file is not there yet.
            let id = AssetID(digest: SHA256.hash(Self.file).bytes)?.description ?? ""
            try await ann.send(
                #"{"n":2,"e":5,"i":"\#(id)","t":5000,"w":400,"h":300,"d":[{"x":0,"y":0},{"x":400,"y":300}]}"#,
                appliedAt: 2)
            let frame = try await board.picture("head", at: 2)
            #expect(frame != ink)
            let named = "&room=\(try await Self.incarnation(board))&index=2"
            let incomplete = try await board.picture("head", "png", named)
            #expect(incomplete.bytes == frame)
            #expect(incomplete.fields["cache-control"] == "private, no-cache")
            let tag = try #require(incomplete.fields["etag"])
            #expect(try await board.picture("head", "png", unless: tag).statusCode == 304)
            #expect(try await board.picture("main", at: 1) == ink)

            let stored = try await service.http.send(
                "POST", "/api/rooms/physics/assets", headers: [("Content-Type", "application/pdf")], bytes: Self.file)
            #expect(try AnyJSON.decode(stored.bytes)["id"] == .string(id))
            let image = try await eventually("the image is drawn") {
                let answer = try await board.picture("head")
                return answer.bytes == frame ? nil : answer.bytes
            }
            let complete = try await board.picture("head", "png", named)
            #expect(complete.bytes == image)
            #expect(complete.fields["cache-control"] == "private, max-age=31536000, immutable")
            #expect(complete.fields["etag"] != tag)
            #expect(try await board.picture("head", "png", unless: complete.fields["etag"]).statusCode == 304)
            // Asking by the tag of the frame gives the image.
            #expect(try await board.picture("head", "png", unless: tag).bytes == image)

            // The lower half goes up, over the ink.
            try await ann.send(
                #"{"n":3,"e":6,"t":6000,"w":400,"h":300,"m":[1,0,0,1,0,-150],"d":[{"x":0,"y":150},{"x":400,"y":150},{"x":400,"y":300},{"x":0,"y":300}]}"#,
                appliedAt: 3)
            let moved = try await board.picture("head", at: 3)
            #expect(moved != image && moved != ink)
            let svg = String(decoding: try await board.picture("head", "svg").bytes, as: UTF8.self)
            #expect(svg.contains("data:image/png;base64,") && svg.ranges(of: "clip-path=").count == 2)
            #expect(try await board.picture("head", "pdf").bytes.starts(with: Array("%PDF".utf8)))

            // Students see each when their video has come to it.
            #expect(try await board.picture("main", at: 1) == ink)
            #expect(try await board.picture("main", "png", "&room=x&index=3").statusCode == 404)
            try ann.clock(5500)
            #expect(try await board.picture("main", at: 2) == image)
            try ann.clock(7000)
            #expect(try await board.picture("main", at: 3) == moved)
            try await ann.send(#"{"n":4,"a":2,"t":6500}"#, appliedAt: 4)
            #expect(try await board.picture("head", at: 4) == image)
        }
    }

    private static func incarnation(_ board: Board) async throws -> String {
        try #require(try await board.picture("head").fields["ink-room"])
    }
}
