import Foundation
import NATSClient
import TestSupport
import Testing

/// Files that teachers bring over HTTP, to the built daemon.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct AssetTests {
    private static func withDaemon(
        _ settings: [String] = [], _ body: @escaping @Sendable (HTTPClient, JetStream) async throws -> Void
    ) async throws {
        try await BoardService.with(settings) { try await body($0.http, JetStream($0.connection)) }
    }

    @Test func `A file is stored, tells its pages, and is stored once`() async throws {
        try await Self.withDaemon { http, jetStream in
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
            #expect(try await jetStream.streamInfo("INK_ASSETS").messages == 4)
        }
    }

    @Test func `A large file comes in parts`() async throws {
        try await Self.withDaemon { http, jetStream in
            // What follows the end of a PDF's objects does no harm.
            let file = SamplePDF.twoPages(String(repeating: "0 0 1 rg 9 9 9 9 re f\n", count: 200_000))
            let answer = try await http.upload(file)
            #expect(answer.statusCode == 200, "\(String(decoding: answer.bytes, as: UTF8.self))")
            #expect(try await jetStream.streamInfo("INK_ASSETS").bytes > 4_000_000)
        }
    }

    @Test func `What cannot be read is refused with the reason, and nothing of it is kept`() async throws {
        try await Self.withDaemon { http, jetStream in
            for (file, code, status) in [
                (Array("GIF89a".utf8), "unreadable", 422), (Array("%PDF-1.4 and nothing".utf8), "unreadable", 422),
                ([0xFF, 0xD8, 0xFF, 0xE0, 0, 0], "unreadable", 422), ([], "bad-request", 400),
            ] as [([UInt8], String, Int)] {
                let answer = try await http.upload(file)
                #expect(answer.statusCode == status)
                #expect(try AnyJSON.decode(answer.bytes)["error"]?["code"] == .string(code))
            }
            #expect(try await jetStream.streamInfo("INK_ASSETS").messages == 0)
        }
    }

    @Test func `More than the space for assets, and more than a file may have, is refused`() async throws {
        try await Self.withDaemon(["assets.max_bytes=1MiB"]) { http, _ in
            let full = try await http.upload(
                SamplePDF.twoPages(String(repeating: "0 0 1 rg 9 9 9 9 re f\n", count: 60_000)))
            #expect(full.statusCode == 507)
            #expect(try AnyJSON.decode(full.bytes)["error"]?["code"] == .string("assets-full"))
            #expect(try await http.upload(SamplePDF.twoPages()).statusCode == 200)
            let large = try await http.upload([UInt8](repeating: 1, count: (50 << 20) + 1))
            #expect(large.statusCode == 413)
        }
    }

    @Test func `Uploads at the same time are all stored`() async throws {
        try await Self.withDaemon { http, jetStream in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await http.upload(SamplePDF.twoPages("0 0 \(number) 1 re f"), room: "r\(number)").statusCode
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [200, 200, 200, 200])
            #expect(try await jetStream.streamInfo("INK_ASSETS").messages == 12)
        }
    }

    @Test func `Without a journal there is no place for files`() async throws {
        try await Self.withDaemon(["journal.mode=none"]) { http, _ in
            let answer = try await http.upload(SamplePDF.twoPages())
            #expect(answer.statusCode == 501)
            #expect(try AnyJSON.decode(answer.bytes)["error"]?["code"] == .string("no-journal"))
        }
    }
}

extension HTTPClient {
    func upload(_ file: [UInt8], room: String = "physics") async throws -> Response {
        try await send(
            "POST", "/api/rooms/\(room)/assets", headers: [("Content-Type", "application/octet-stream")], bytes: file)
    }
}
