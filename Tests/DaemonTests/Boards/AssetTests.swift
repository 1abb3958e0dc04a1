import Foundation
import NATSClient
import TestSupport
import Testing

/// Files that teachers bring over HTTP, to the built daemon.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct AssetTests {
    @Test func `A file is stored once with its pages, however large, beside others, and nothing of a bad one`()
        async throws
    {
        try await BoardService.with { service in
            let http = service.http
            func stored() async throws -> StreamInfo {
                try await JetStream(service.connection).streamInfo("INK_ASSETS")
            }
            for (file, code, status) in [
                (Array("GIF89a".utf8), "unreadable", 422), (Array("%PDF-1.4 and nothing".utf8), "unreadable", 422),
                ([0xFF, 0xD8, 0xFF, 0xE0, 0, 0], "unreadable", 422), ([], "bad-request", 400),
            ] as [([UInt8], String, Int)] {
                let answer = try await http.upload(file)
                #expect(answer.statusCode == status)
                #expect(try answer.errorCode == .string(code))
            }
            #expect(try await stored().messages == 0)

            let answers = [
                try await http.upload(SamplePDF.twoPages()),
                try await http.upload(SamplePDF.twoPages(), room: "chemistry"),
            ]
            for answer in answers {
                #expect(answer.statusCode == 200)
                let asset = try AnyJSON.decode(answer.bytes)
                #expect(asset["type"] == .string("application/pdf"))
                #expect(asset["pages"] == .number(2))
                #expect(asset["width"] == .number(400))
                #expect(asset["height"] == .number(300))
            }
            #expect(answers[0].bytes == answers[1].bytes)
            // One part, the manifest, and a record of each room.
            #expect(try await stored().messages == 4)

            let statuses = try await concurrently(0..<4) { number in
                try await http.upload(SamplePDF.twoPages("0 0 \(number) 1 re f"), room: "r\(number)").statusCode
            }
            #expect(statuses == [200, 200, 200, 200])
            #expect(try await stored().messages == 16)

            // What follows the end of a PDF's objects does no harm.
            let large = SamplePDF.twoPages(String(repeating: "0 0 1 rg 9 9 9 9 re f\n", count: 200_000))
            let answer = try await http.upload(large)
            #expect(answer.statusCode == 200, "\(answer.text)")
            #expect(try await stored().bytes > 4_000_000)
        }
    }

    @Test func `More than the space for assets, and more than a file may have, is refused`() async throws {
        try await BoardService.with(["assets.max_bytes=1MiB"]) { service in
            let http = service.http
            let full = try await http.upload(
                SamplePDF.twoPages(String(repeating: "0 0 1 rg 9 9 9 9 re f\n", count: 60_000)))
            #expect(full.statusCode == 507)
            #expect(try full.errorCode == .string("assets-full"))
            #expect(try await http.upload(SamplePDF.twoPages()).statusCode == 200)
            let large = try await http.upload([UInt8](repeating: 1, count: (50 << 20) + 1))
            #expect(large.statusCode == 413)
        }
    }

    @Test func `Without a journal there is no place for files`() async throws {
        try await BoardService.with(["journal.mode=none"]) { service in
            let answer = try await service.http.upload(SamplePDF.twoPages())
            #expect(answer.statusCode == 501)
            #expect(try answer.errorCode == .string("no-journal"))
        }
    }
}

extension HTTPClient {
    func upload(_ file: [UInt8], room: String = "physics") async throws -> Response {
        try await send(
            "POST", "/api/rooms/\(room)/assets", headers: [("Content-Type", "application/octet-stream")], bytes: file)
    }
}
