import Foundation
import Hummingbird
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Rotations of pages over HTTP", .timeLimit(.minutes(4))) struct RotateRouteTests {
    @Test func `a rotation that takes longer than other requests may is answered`() async throws {
        var limits = GatewayLimits.quick
        limits.requestTimeout = .seconds(2)
        limits.stateTimeout = .seconds(60)
        try await RunningGateway.with(limits: limits) { gateway in
            let isHeld = Locked(true)
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            try await gateway.service.answer("ink.0.r.join-head") { _ in
                asking.yield()
                return isHeld.withLock { $0 } ? [] : [.error(.unknownRoom)]
            }
            try await gateway.service.answer("ink.0.slow.info") { _ in [] }
            let rotating = try RawConnection(port: gateway.port)
            let path = "/api/rooms/r/pages/0/rotate"
            #expect(rotating.send("POST \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
            _ = await asked.first { _ in true }
            // The time of a request that began later is over.
            let other = try RawConnection(port: gateway.port)
            #expect(other.send("GET /api/rooms/slow HTTP/1.1\r\nHost: h\r\n\r\n"))
            #expect(await other.readToEnd() == "")
            isHeld.withLock { $0 = false }
            // Asked again when a reply does not come.
            let answer = await rotating.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        }
    }
}

@Suite("Imports and copies over HTTP", .timeLimit(.minutes(4))) struct ImportRouteTests {
    private static let password = "100 % für Ä"

    /// A service that takes files with the password alone, and applies all operations.
    private static func serve(
        _ gateway: RunningGateway, begun: Recorder<String>, written: Recorder<String>
    ) async throws {
        let service = gateway.service
        let settings = String(decoding: joinReply(), as: UTF8.self)
            .replacing(#""palette""#, with: #""features":["pages","paper"],"palette""#)
        try await service.answer("ink.0.*.join-head") { _ in [.text(settings)] }
        try await service.answer("ink.0.*.info") { _ in [.error(.unknownRoom)] }
        try await service.answer("ink.0.*.asset-in") { question in
            begun.append(question.text)
            guard question.text.contains(#""password":"\#(password)""#) else {
                return [.text(#"{"error":{"code":"needs-password","message":"The file is encrypted."}}"#)]
            }
            return [.text(#"{"to":"ink.uploads.t.1","part":1000}"#)]
        }
        let id = String(repeating: "5", count: 64)
        try await service.answer("ink.uploads.t.*") { _ in
            [.text(#"{"id":"\#(id)","type":"application/pdf","pages":1,"width":4,"height":3}"#)]
        }
        let connection = service.connection
        _ = try connection.subscribe("ink.0.*.in.*") { message in
            let text = String(decoding: message.copyPayload(), as: UTF8.self)
            let (subject, session) = (message.subject, message.header(HeaderName.session))
            written.append(text)
            // Nobody else writes, and in each room there is one session.
            guard let number = (try? StrokeMessage(decoding: Array(text.utf8)))?.number else { return }
            let feedback = Feedback.applied(number: number, index: UInt64(number)).encoded(session: session)
            try? connection.publish(feedback, to: subject.replacing(".in.", with: ".feedback."))
        }
        try await connection.flush()
    }

    @Test func `the password of a file goes to the service with it, whatever characters it has`() async throws {
        try await RunningGateway.with { gateway in
            let (begun, written) = (Recorder<String>(), Recorder<String>())
            try await Self.serve(gateway, begun: begun, written: written)
            func post(_ path: String, _ password: String?) async throws -> HTTPClient.Response {
                let headers = password.map { [("Ink-Password", $0)] } ?? []
                return try await gateway.http.send("POST", "/api/rooms/r/\(path)", headers: headers, body: "x")
            }
            let encoded = try #require(Self.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            #expect(try await post("assets", encoded).status == .ok)
            #expect(try await post("import?author=anna", encoded).text.contains(#""pages":[1]"#))
            for path in ["assets", "import?author=anna"] {
                for wrong in [nil, "wrong", ""] {
                    let refused = try await post(path, wrong)
                    #expect(refused.status == .unprocessableContent, "\(refused.text)")
                    #expect(try refused.errorCode == "needs-password")
                }
            }
            #expect(begun.values.count == 8)
            #expect(begun.values.count { $0.contains(#""password":"\#(Self.password)""#) } == 2)
            #expect(begun.values.count { !$0.contains("password") } == 2)
            // What is no percent-encoded text, or too long, is not sent on.
            for malformed in ["%zz", "%ff", String(repeating: "%41", count: 2000)] {
                for path in ["assets", "import?author=anna"] {
                    #expect(try await post(path, malformed).status == .badRequest)
                }
            }
            #expect(begun.values.count == 8)
        }
    }

    @Test func `an import is written by the gateway, and says the teacher's name in each message`() async throws {
        try await RunningGateway.with { gateway in
            let (begun, written) = (Recorder<String>(), Recorder<String>())
            try await Self.serve(gateway, begun: begun, written: written)
            let encoded = try #require(Self.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let queries = [("", "anna"), ("&name=%E7%8E%8B%E8%80%81%E5%B8%88", "王老师"), ("&name=", "anna")]
            for (number, (query, name)) in queries.enumerated() {
                let before = written.values.count
                let answer = try await gateway.http.send(
                    "POST", "/api/rooms/r-\(number)/import?author=anna&t=1\(query)",
                    headers: [("Ink-Password", encoded)], body: "x")
                #expect(answer.text.contains(#""pages":[1]"#), "\(answer.text)")
                // One that arranges, a paper, and one that turns.
                let messages = written.values.dropFirst(before)
                #expect(messages.count == 3)
                #expect(messages.allSatisfy { $0.contains(#""by":"\#(name)""#) }, "\(messages)")
            }
            let long = String(repeating: "n", count: 65)
            let refused = try await gateway.http.post("/api/rooms/r/import?author=anna&name=\(long)", body: "x")
            #expect(refused.status == .badRequest)
        }
    }

    @Test func `a copy says who asked for it, and nobody where nobody is named`() async throws {
        try await RunningClass.with { lesson in
            try lesson.draw(1...3)
            let http = lesson.gateway.http
            try await eventually("it is drawn", is: await http.get("/api/rooms/r").text.contains(#""index":3"#))
            let queries = [("?author=anna", "anna"), ("?author=anna&name=Frau%20A", "Frau A"), ("", nil)]
            for (number, (query, name)) in queries.enumerated() {
                let written = Recorder<String>()
                _ = try lesson.teacher.subscribe("ink.0.other-\(number).in.*") { message in
                    written.append("\(message.subject) \(String(decoding: message.copyPayload(), as: UTF8.self))")
                }
                try await lesson.teacher.flush()
                let body = #"{"to":"other-\#(number)"}"#
                let answer = try await http.post("/api/rooms/r/pages/0/copy\(query)", body: body)
                #expect(answer.status == .ok, "\(answer.text)")
                // One that arranges and three that draw, at least.
                for message in try await written.values(4) {
                    let member = name.map { #""by":"\#($0)""# } ?? #""by""#
                    #expect(message.contains(".in.gw-"))
                    #expect(message.contains(member) == (name != nil), "\(message)")
                }
            }
        }
    }
}
