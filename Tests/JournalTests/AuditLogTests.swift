import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

@Suite(.timeLimit(.minutes(4))) struct AuditLogTests {
    private func with(
        maxBytes: Int64 = 64 << 20, configuration: String? = nil,
        _ body: @Sendable (AuditLog, JetStream) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: true, configuration: configuration) { server, nats in
            let log = AuditLog(
                root: "ink", settings: JournalSettings(), maxBytes: maxBytes, maxAge: .seconds(3600),
                connection: nats, logger: .silent)
            try await body(log, JetStream(nats))
        }
    }

    private func entry(_ id: Int, _ room: String? = "physics", detail: String? = nil) -> AuditEntry {
        AuditEntry(id: "\(id)", who: "otto", behalf: "anna", command: "close", room: room, detail: detail)
    }

    private func ids(_ page: AuditPage) -> [Int?] { page.entries.map { Int($0.id) } }

    @Test func `Entries are listed in their order with their times, all or those of one room`() async throws {
        try await with { log, jetStream in
            #expect(try await log.page(AuditRequest()) == AuditPage([], next: nil))
            let began = WallClock.now() / 1_000_000
            // The stream is made by the first of them.
            for (id, room) in [(1, "physics"), (2, "art"), (3, nil), (4, "physics")] as [(Int, String?)] {
                try await log.record(entry(id, room))
            }
            let all = try await log.page(AuditRequest())
            #expect(ids(all) == [1, 2, 3, 4])
            #expect(all.entries.allSatisfy { ($0.time ?? 0) >= began && ($0.time ?? 0) <= began + 60_000 })
            #expect(all.entries.first?.behalf == "anna")
            #expect(ids(try await log.page(AuditRequest(room: .physics))) == [1, 4])
            let configuration = try await jetStream.streamInfo("INK_AUDIT").configuration
            #expect(configuration.maxBytes == 64 << 20 && configuration.maxAge == .seconds(3600))
        }
    }

    @Test func `Entries since a time are found, also where there are none`() async throws {
        try await with { log, _ in
            for id in 1...5 { try await log.record(entry(id)) }
            let times = try await log.page(AuditRequest()).entries.compactMap(\.time)
            // Entries may share a millisecond.
            let since = times[2]
            #expect(try await log.page(AuditRequest(since: since)).entries.count == times.count { $0 >= since })
            #expect(try await log.page(AuditRequest(since: times[4] + 1)).entries.isEmpty)
            #expect(try await log.page(AuditRequest(since: 0)).entries.count == 5)
        }
    }

    @Test func `A long log comes in pages without a gap or a repeat`() async throws {
        try await with { log, _ in
            for id in 1...1200 { try await log.record(entry(id, id % 2 == 0 ? "art" : "physics")) }
            var found: [Int?] = []
            var request = AuditRequest()
            var pages = 0
            repeat {
                let page = try await log.page(request)
                found += ids(page)
                request.from = page.next
                pages += 1
            } while request.from != nil
            #expect(found == Array(1...1200))
            #expect(pages == 3)
        }
    }

    @Test func `The oldest entries go when the log is full`() async throws {
        try await with(maxBytes: 1 << 20) { log, jetStream in
            let detail = String(repeating: "x", count: 4000)
            for id in 1...400 { try await log.record(entry(id, detail: detail)) }
            #expect(try await jetStream.streamInfo("INK_AUDIT").bytes <= 1 << 20)
            var request = AuditRequest()
            var last: Int?
            repeat {
                let page = try await log.page(request)
                if last == nil { #expect((ids(page).first ?? 1) ?? 1 > 1) }
                last = ids(page).last ?? last
                request.from = page.next
            } while request.from != nil
            #expect(last == 400)
        }
    }

    @Test func `An entry is not recorded where the stream cannot be made`() async throws {
        try await with(configuration: "jetstream: { max_file_store: 1M }") { log, _ in
            await #expect(throws: JournalError.self) { try await log.record(entry(1)) }
            let page = try await log.page(AuditRequest())
            #expect(page == AuditPage([], next: nil))
        }
    }
}
