import Hummingbird
import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Pictures over HTTP", .timeLimit(.minutes(1)))
struct PictureRouteTests {
    @Test("a picture in several parts comes whole, with a tag that spares sending it again")
    func parts() async throws {
        try await RunningGateway.with { gateway in
            let png = picture(bytes: 700_000)
            try gateway.service.answer("ink.0.lesson-7.image.main") { _ in Answer.parts(png, 3) }
            try await gateway.service.ready()
            let first = try await gateway.http.get("/rooms/lesson-7/board.png")
            #expect(first.status == .ok)
            #expect(first.headers[.contentType] == "image/png")
            #expect(first.headers[.cacheControl] == "no-cache")
            #expect(first.bytes == png)

            let tag = try #require(first.headers[.eTag])
            let again = try await gateway.http.get("/rooms/lesson-7/board.png", headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            #expect(again.headers[.eTag] == tag)
            #expect(again.headers[.contentLength] == nil)
            #expect(again.bytes.isEmpty)
            let changed = try await gateway.http.get("/rooms/lesson-7/board.png", headers: [.ifNoneMatch: "\"x\""])
            #expect(changed.bytes == png)

            let head = try await gateway.http.head("/rooms/lesson-7/board.png")
            #expect(head.status == .ok)
            #expect(head.headers[.contentLength] == String(png.count))
            #expect(head.bytes.isEmpty)
        }
    }

    @Test(
        "cohort and width reach the service",
        arguments: [
            ("", "ink.0.r.image.main", "{}"), ("?width=320", "ink.0.r.image.main", "{\"width\":320}"),
            ("?cohort=hls", "ink.0.r.image.hls", "{}"),
            ("?width=4096&cohort=web%5Frtc&x=y", "ink.0.r.image.web_rtc", "{\"width\":4096}"),
            ("?width=1", "ink.0.r.image.main", "{\"width\":1}"),
        ])
    func query(query: String, subject: String, payload: String) async throws {
        try await RunningGateway.with { gateway in
            try gateway.service.answer("ink.>") { question in
                #expect(question.subject == subject)
                #expect(question.text == payload)
                return [Answer(payload: picture(bytes: 1))]
            }
            try await gateway.service.ready()
            #expect(try await gateway.http.get("/rooms/r/board.png\(query)").status == .ok)
        }
    }

    @Test("widths and cohorts out of the rule are refused")
    func badQueries() async throws {
        try await RunningGateway.with { gateway in
            for query in [
                "width=0", "width=4097", "width=-1", "width=+1", "width=1.5", "width=", "width", "width=abc",
                "width=99999999999999999999", "width=%31%30%30%30%30", "cohort=", "cohort=A", "cohort=open",
                "cohort=default", "cohort=a.b", "cohort=%3E",
            ] {
                let response = try await gateway.http.get("/rooms/r/board.png?\(query)")
                #expect(response.status == .badRequest, "\(query)")
                #expect(try response.errorCode == "bad-request", "\(query)")
            }
        }
    }

    @Test(
        "what the service says no with has its own status",
        arguments: [
            (.text(#"{"error":{"code":"unknown-room","message":"x"}}"#), 404, "unknown-room"),
            (.text(#"{"error":{"code":"unknown-cohort","message":"x"}}"#), 404, "unknown-cohort"),
            (.text(#"{"error":{"code":"bad-request","message":"x"}}"#), 400, "bad-request"),
            (.text(#"{"error":{"code":"not-ready","message":"x"}}"#), 503, "not-ready"),
            (.text("neither"), 502, "bad-gateway"),
            (Answer(payload: picture(bytes: 9), headers: ["Ink-Part": "3/2"]), 502, "bad-gateway"),
        ] as [(Answer, Int, String)])
    func errors(answer: Answer, status: Int, code: String) async throws {
        try await RunningGateway.with { gateway in
            try gateway.service.answer("ink.0.r.image.main") { _ in [answer] }
            try await gateway.service.ready()
            let response = try await gateway.http.get("/rooms/r/board.png")
            #expect(response.status.code == status)
            #expect(try response.errorCode == code)
        }
    }

    @Test("a picture that does not come is a timeout")
    func timeout() async throws {
        var limits = GatewayLimits.quick
        limits.pictureTimeout = .milliseconds(50)
        try await RunningGateway.with(limits: limits) { gateway in
            try gateway.service.answer("ink.0.r.image.main") { _ in [] }
            try await gateway.service.ready()
            let response = try await gateway.http.get("/rooms/r/board.png")
            #expect(response.status == .gatewayTimeout)
            #expect(try response.errorCode == "timeout")
        }
    }
}

@Suite("Entity tags")
struct EntityTagTests {
    @Test("length and FNV-1a of 64 bits")
    func text() {
        #expect(EntityTag(of: []).text == "\"0-cbf29ce484222325\"")
        #expect(EntityTag(of: Array("foobar".utf8)).text == "\"6-85944171f73967e8\"")
        #expect(EntityTag(of: [1]) != EntityTag(of: [2]))
    }

    @Test(
        "If-None-Match names it alone, in a list, weakly, or as any",
        arguments: ["TAG", "W/TAG", "\"x\", TAG", "\"x\",\tW/TAG ,\"y\"", "*", " * "])
    func matches(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(tag.matches(header.replacing("TAG", with: tag.text)))
    }

    @Test("other headers do not", arguments: ["", "\"x\"", "w/TAG", ",", "TAGx", "**"])
    func doesNotMatch(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(!tag.matches(header.replacing("TAG", with: tag.text)))
    }
}
