import Foundation
import Hummingbird
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Links over HTTP", .timeLimit(.minutes(4))) struct LinkRouteTests {
    @Test func `a link that nobody can have made is not revoked, and one that has ended needs no command`() async throws
    {
        let key = try await TokenKey.test()
        try await RunningGateway.with(key) { gateway in
            let commands = Recorder<String>()
            try await gateway.service.answer("ink.command.gateway") { question in
                commands.append(question.text)
                return [.error(.listFull)]
            }
            try await gateway.revokeNothing()
            let room = try #require(RoomID("r"))
            let token = try await key.sign(
                TokenClaims(rooms: .some([room]), role: .teacher, author: AuthorID("anna"), expires: Date() + 600))
            func revoke(_ name: String, _ room: String = "r") async throws -> HTTPClient.Response {
                try await gateway.http.send(
                    "DELETE", "/api/rooms/r/links/link.\(room).\(name).abc",
                    headers: [("Authorization", "Bearer \(token)")])
            }
            let now = Int64(Date().timeIntervalSince1970)
            let day: Int64 = 86_400
            for end in [now + 40 * day, .max] {
                #expect(try await revoke(String(end, radix: 36)).status == .badRequest, "\(end)")
            }
            #expect(try await revoke(String(now + day, radix: 36), "s").status == .badRequest)
            for end in [now - day, 0, .min] {
                #expect(try await revoke(String(end, radix: 36)).status == .noContent, "\(end)")
            }
            #expect(commands.values.isEmpty)
            let end = String(now + day, radix: 36)
            #expect(try await revoke(end).status == .serviceUnavailable)
            #expect(commands.values.count == 1 && commands.values.allSatisfy { $0.contains("link.r.\(end).abc") })
        }
    }
}
