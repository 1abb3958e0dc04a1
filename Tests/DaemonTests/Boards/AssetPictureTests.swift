import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Pages of assets as pictures, from the built daemon: who may see what, and when.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct AssetPictureTests {
    private static let settings = ["board.features=pages,images", "checkpoint.interval=1s"]

    /// A room with a teacher, on one daemon.
    private struct Lesson: Sendable {
        let http: HTTPClient
        let ann: ScriptedAuthor
        let nats: NATSConnection

        func get(_ asset: String, _ query: String, room: String = "lesson") async throws -> HTTPClient.Response {
            try await http.get("/api/rooms/\(room)/assets/\(asset)?\(query)")
        }

        func upload(_ file: [UInt8], room: String = "lesson") async throws -> String {
            let answer = try await http.upload(file, room: room)
            guard case .string(let id)? = try AnyJSON.decode(answer.bytes)["id"] else {
                throw Unexpected("not stored: \(answer.statusCode)")
            }
            return id
        }

        /// Waits until the video of `main` has reached an operation; that of `hls` stands at its beginning.
        func released(_ index: UInt64, to cohort: String) async throws {
            try await eventually("operation \(index) is released to \(cohort)") { () -> Void? in
                try ann.clock(10_000, "main")
                try ann.clock(0, "hls")
                let state = try AnyJSON.decode(try await http.get("/api/rooms/lesson").bytes)
                return state.cohort(cohort)?["index"] == .number(Double(index)) ? () : nil
            }
        }
    }

    private static func withLesson(_ body: @escaping @Sendable (Lesson) async throws -> Void) async throws {
        try await BoardService.with(settings) {
            let ann = try ScriptedAuthor("ann", room: "lesson", on: $0.connection)
            try await body(Lesson(http: $0.http, ann: ann, nats: $0.connection))
        }
    }

    /// Draws a page of an asset at a time of the video.
    private static func image(_ number: Int, _ asset: String, page: Int = 0, at time: Int) -> String {
        #"{"n":\#(number),"e":5,"i":"\#(asset)","p":\#(page),"t":\#(time),"d":[{"x":10,"y":10},{"x":410,"y":310}]}"#
    }

    private static let nobodys = String(repeating: "a", count: 64)

    @Test
    func `Students see a page when their video shows it, and cannot tell before whether it is there`() async throws {
        try await Self.withLesson { lesson in
            try lesson.ann.clock(0, "main")
            try lesson.ann.clock(0, "hls")
            let asset = try await lesson.upload(SamplePDF.twoPages())
            // The teacher sees what was uploaded, wherever it will be placed; students and other rooms do not.
            #expect(try await lesson.get(asset, "cohort=head&page=1").statusCode == 200)
            #expect(try await lesson.get(asset, "cohort=head", room: "other").statusCode == 404)
            let missing = try await lesson.get(Self.nobodys, "cohort=main")
            #expect(missing.statusCode == 404)
            #expect(try missing.errorCode == .string("unknown-asset"))

            try await lesson.ann.send(Self.image(1, asset, at: 5000), appliedAt: 1)
            let early = try await lesson.get(asset, "cohort=main")
            #expect(early.statusCode == 404)
            #expect(early.bytes == missing.bytes)
            #expect(try await lesson.get(asset, "cohort=nobody").bytes == missing.bytes)

            try await lesson.released(1, to: "main")
            let shown = try await lesson.get(asset, "cohort=main&width=100")
            #expect(shown.statusCode == 200)
            #expect(shown.fields["content-type"] == "image/png")
            #expect(shown.fields["cache-control"] == "private, max-age=31536000, immutable")
            #expect(try PNGReader(shown.bytes).size == (100, 75))
            #expect(try await PNGReader(lesson.get(asset, "").bytes).size == (400, 300))
            // The other page, another cohort, another room.
            #expect(try await lesson.get(asset, "page=1").bytes == missing.bytes)
            #expect(try await lesson.get(asset, "cohort=hls").bytes == missing.bytes)
            #expect(try await lesson.get(asset, "", room: "other").bytes == missing.bytes)
            #expect(try await lesson.get(asset, "cohort=head&page=2").bytes == missing.bytes)
            #expect(try await lesson.get(Self.nobodys, "cohort=head").bytes == missing.bytes)

            let tag = try #require(shown.fields["etag"])
            let path = "/api/rooms/lesson/assets/\(asset)?width=100"
            #expect(try await lesson.http.send("GET", path, headers: [("If-None-Match", tag)]).statusCode == 304)
            #expect(try await lesson.http.send("GET", path, headers: [("If-None-Match", "\"x\"")]).statusCode == 200)

            // What was undone can come back.
            try await lesson.ann.send(#"{"n":2,"a":2,"t":6000}"#, appliedAt: 2)
            try await lesson.released(2, to: "main")
            #expect(try await lesson.get(asset, "cohort=main").statusCode == 200)
            // What was cleared for good cannot.
            try await lesson.ann.send(#"{"n":3,"a":4,"t":7000}"#, appliedAt: 3)
            try await lesson.released(3, to: "main")
            #expect(try await lesson.get(asset, "cohort=main").bytes == missing.bytes)
            #expect(try await lesson.get(asset, "cohort=head").statusCode == 200)
        }
    }

    @Test
    func `Over NATS the answer has the picture or a code, and whoever asks for hundreds keeps no teacher waiting`()
        async throws
    {
        try await Self.withLesson { lesson in
            let asset = try await lesson.upload(
                SamplePDF.twoPages(String(repeating: "1 0 0 rg 0 0 50 50 re f\n", count: 2000)))
            try await lesson.ann.send(Self.image(1, asset, page: 1, at: 0), appliedAt: 1)
            try await lesson.released(1, to: "main")
            func ask(_ subject: RoomSubject, _ body: String) async throws -> NATSReply {
                try await lesson.nats.requestParts(
                    Array(body.utf8), to: lesson.ann.address.subject(subject), timeout: .seconds(20))
            }
            let picture = try await ask(.asset(.main), #"{"id":"\#(asset)","page":1,"width":50}"#)
            #expect(try PNGReader(picture.payload).size == (50, 25))
            let tag = try #require(picture.header(HeaderName.tag))
            let same = try await ask(.asset(.main), #"{"id":"\#(asset)","page":1,"width":50,"unless":"\#(tag)"}"#)
            #expect(same.payload.isEmpty && same.header(HeaderName.tag) == tag)
            #expect(try await PNGReader(ask(.assetHead, #"{"id":"\#(asset)"}"#).payload).size == (400, 300))
            for (subject, body, code) in [
                (.asset(.main), #"{"id":"\#(asset)"}"#, .unknownAsset), (.asset(.main), "{}", .badRequest),
                (.asset(.main), #"{"id":"\#(asset)","page":500}"#, .badRequest),
                (.assetHead, #"{"id":"\#(asset)","width":0}"#, .badRequest),
                (.assetHead, #"{"id":"\#(asset)","page":3}"#, .unknownAsset),
                (.assetHead, #"{"id":"A\#(asset.dropFirst())"}"#, .badRequest),
            ] as [(RoomSubject, String, RequestError.Code)] {
                #expect(RequestError(decoding: try await ask(subject, body).payload)?.code == code, "\(body)")
            }

            try await lesson.ann.send(Self.image(2, asset, at: 0), appliedAt: 2)
            try await lesson.released(2, to: "main")
            let codes = try await withThrowingTaskGroup(of: RequestError.Code?.self) { group in
                for width in 1...400 {
                    group.addTask {
                        let request = Array(#"{"id":"\#(asset)","width":\#(width)}"#.utf8)
                        let subject = lesson.ann.address.subject(.asset(.main))
                        let reply = try await lesson.nats.requestParts(request, to: subject, timeout: .seconds(60))
                        return RequestError(decoding: reply.payload)?.code
                    }
                }
                group.addTask {
                    let page = try await lesson.get(asset, "cohort=head&page=1")
                    #expect(page.statusCode == 200, "\(page.text)")
                    return .gone
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.count { $0 == nil } >= 8)
            #expect(codes.count { $0 == .notReady } > 200)
            #expect(codes.allSatisfy { $0 == nil || $0 == .notReady || $0 == .gone })

            let metrics = try Exposition(try await lesson.http.get("/metrics").text)
            #expect(metrics[#"lectern_asset_uploads_total{outcome="stored"}"#] == 1)
            #expect(metrics["lectern_asset_bytes"] ?? 0 > 40_000)
            #expect(metrics[#"lectern_asset_pictures_total{outcome="not-ready"}"#] ?? 0 > 200)
            let rendered = metrics[#"lectern_asset_pictures_total{outcome="rendered"}"#] ?? 0
            #expect(metrics["lectern_asset_rendering_seconds_count"] ?? 0 >= rendered && rendered >= 9)
        }
    }

    @Test func `A room has its bytes of files, also after a restart; another room has its own`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let files = (1...2).map {
                SamplePDF.twoPages(String(repeating: "0 0 \($0) rg 9 9 9 9 re f\n", count: 28_000))
            }
            for file in files {
                let (daemon, http) = try await DaemonProcess.servingHTTP(
                    "a", nats: nats.url, ["assets.room_bytes=1MiB"])
                let answer = try await http.upload(file)
                if file == files[0] {
                    #expect(answer.statusCode == 200)
                } else {
                    #expect(answer.statusCode == 507)
                    #expect(try answer.errorCode == .string("assets-full"))
                    #expect(answer.text.contains("assets.room_bytes"))
                    #expect(try await http.upload(file, room: "chemistry").statusCode == 200)
                    #expect(try await http.upload(files[0]).statusCode == 200)
                }
                #expect(await daemon.terminate() == 0)
            }
        }
    }

    @Test
    func `Pages are given by whichever daemon has the room, and by its successor, as far as released`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            func start(_ name: String) async throws -> (daemon: DaemonProcess, lesson: Lesson) {
                let (daemon, http) = try await DaemonProcess.servingHTTP(name, nats: nats.url, Self.settings)
                let ann = try ScriptedAuthor("ann", room: "lesson", on: connection)
                return (daemon, Lesson(http: http, ann: ann, nats: connection))
            }
            let (first, one) = try await start("a")
            let (second, two) = try await start("b")
            let asset = try await two.upload(SamplePDF.twoPages())
            try await one.ann.send(Self.image(1, asset, at: 0), appliedAt: 1)
            try await one.ann.send(Self.image(2, asset, page: 1, at: 60_000), appliedAt: 2)
            try await one.released(1, to: "main")
            func check(_ lesson: Lesson) async throws {
                try await eventually("the page is given") { () -> Void? in
                    try lesson.ann.clock(10_000, "main")
                    try lesson.ann.clock(0, "hls")
                    return try await lesson.get(asset, "width=40").statusCode == 200 ? () : nil
                }
                #expect(try await lesson.get(asset, "cohort=hls&width=40").statusCode == 404)
                #expect(try await lesson.get(asset, "page=1&width=40").statusCode == 404)
                #expect(try await lesson.get(asset, "cohort=head&page=1&width=40").statusCode == 200)
            }
            try await check(one)
            try await check(two)
            await first.kill()
            try await check(two)
            let (third, three) = try await start("a")
            #expect(await second.terminate() == 0)
            try await check(three)
            #expect(await third.terminate() == 0)
        }
    }
}

extension SamplePDF {
    /// Small files of two pages, 400 × 300 and 100 × 50 points.
    static func twoPages(_ content: String = "1 0 0 rg 0 0 50 50 re f") -> [UInt8] {
        pages(["/MediaBox [0 0 400 300]", "/MediaBox [0 0 100 50]"], content: content)
    }
}
