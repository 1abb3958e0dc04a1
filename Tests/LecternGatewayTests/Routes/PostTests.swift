import Foundation
import Hummingbird
import LecternServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Writing over HTTP", .timeLimit(.minutes(4))) struct PostTests {
    private func post(
        _ lesson: RunningClass, _ path: String, _ body: String, headers: [(String, String)] = []
    ) async throws -> HTTPClient.Response {
        try await lesson.gateway.http.send("POST", "/api/rooms/r/\(path)", headers: headers, body: body)
    }

    private func results(_ response: HTTPClient.Response) throws -> [NSDictionary] {
        try response.json["results"] as? [NSDictionary] ?? []
    }

    @Test func `every stroke gets its index, its rejection or the word that it is held, in order`() async throws {
        try await RunningClass.with(limits: .quick { $0.outcomeTimeout = .milliseconds(700) }) { lesson in
            let one = try await post(
                lesson, "strokes?author=anna", RunningClass.stroke(1), headers: [("Ink-Session", "s1")])
            #expect(one.status == .ok)
            #expect(one.text == #"{"results":[{"n":1,"index":1}]}"#)

            let lines = [
                RunningClass.stroke(2), #"{"n":3,"e":99}"#, "no JSON", #"{"n":4,"a":3,"t":1}"#, RunningClass.stroke(5),
                RunningClass.stroke(2), RunningClass.stroke(9),
            ]
            let several = try await post(
                lesson, "strokes?author=anna", lines.joined(separator: "\n") + "\n\n",
                headers: [("Ink-Session", "s1"), ("Content-Type", "application/x-ndjson; charset=utf-8")])
            let outcomes = try results(several)
            #expect(outcomes.map { $0["index"] as? Int } == [2, nil, nil, nil, 3, 2, nil])
            let codes = outcomes.map { ($0["error"] as? NSDictionary)?["code"] as? String }
            #expect(codes == [nil, "unknown-element", "not-json", "nothing-to-redo", nil, nil, nil])
            #expect(outcomes[6]["status"] as? String == "held" && outcomes[6]["n"] as? Int == 9)

            // A newer session ends the one before.
            _ = try await post(lesson, "strokes?author=anna", RunningClass.stroke(1), headers: [("Ink-Session", "s2")])
            let over = try await post(
                lesson, "strokes?author=anna", RunningClass.stroke(6), headers: [("Ink-Session", "s1")])
            #expect((try results(over).first?["error"] as? NSDictionary)?["code"] as? String == "session-over")
        }
    }

    @Test func `a stroke without a session goes on with the author's last one, and gets its outcome`() async throws {
        try await RunningClass.with { lesson in
            let named = try await post(
                lesson, "strokes?author=anna", RunningClass.stroke(1), headers: [("Ink-Session", "s1")])
            #expect(named.text == #"{"results":[{"n":1,"index":1}]}"#)
            let lines = [RunningClass.stroke(2), #"{"n":3,"a":3,"t":1}"#]
            let unnamed = try results(
                try await post(
                    lesson, "strokes?author=anna", lines.joined(separator: "\n"),
                    headers: [("Content-Type", "application/x-ndjson")]))
            #expect(unnamed.first?["index"] as? Int == 2)
            #expect((unnamed.last?["error"] as? NSDictionary)?["code"] as? String == "nothing-to-redo")
            let muted = try await lesson.gateway.http.send("PUT", "/api/rooms/r/authors/anna/mute")
            #expect(muted.status.kind == .successful, "\(muted.text)")
            let refused = try results(try await post(lesson, "strokes?author=anna", RunningClass.stroke(4)))
            #expect((refused.first?["error"] as? NSDictionary)?["code"] as? String == "muted")
        }
    }

    @Test func `feedback of an author's earlier session says nothing of a stroke without a session`() throws {
        var outcomes = StrokeOutcomes(session: nil)
        let isPublished = outcomes.add(Array(RunningClass.stroke(6).utf8))
        #expect(isPublished)
        let over = Rejection(code: .sessionOver, field: nil, message: "The author has begun another session since.")
        outcomes.receive(
            try FeedbackMessage(decoding: Feedback.rejected(number: 6, order: nil, over).encoded(session: "s1")))
        #expect(!outcomes.isComplete)
        outcomes.receive(try FeedbackMessage(decoding: Feedback.applied(number: 6, index: 41).encoded(session: "s2")))
        #expect(String(decoding: outcomes.encoded(), as: UTF8.self) == #"{"results":[{"n":6,"index":41}]}"#)
    }

    @Test func `the shards of a stroke in one request share its index`() async throws {
        try await RunningClass.with { lesson in
            let shards = (0..<3).map { #"{"n":1,"s":3,"o":\#($0),"t":1,"w":400,"h":300,"d":[{"x":\#($0),"y":2}]}"# }
            let response = try await post(
                lesson, "strokes?author=anna", shards.joined(separator: "\n"),
                headers: [("Content-Type", "application/x-ndjson")])
            #expect(try results(response).map { $0["index"] as? Int } == [1, 1, 1])
        }
    }

    @Test func `posted strokes come out of the event stream, once the posted clock has passed them`() async throws {
        try await RunningClass.with { lesson in
            let reader = try lesson.read("?cohort=hls")
            #expect(try await reader.next().name == "board")
            #expect(try await post(lesson, "clock?cohort=hls", #"{"m":500,"r":0}"#).status == .accepted)
            _ = try await post(lesson, "strokes?author=anna", RunningClass.stroke(1, at: 1000))
            #expect(try await post(lesson, "clock?cohort=hls", #"{"m":1500,"r":0}"#).status == .accepted)
            #expect(try await reader.nextOperation().index == 1)
            let bad = try await post(lesson, "clock?cohort=hls", #"{"q":1}"#)
            #expect(bad.status == .badRequest)
            #expect(try bad.errorCode == "missing-field")
        }
    }

    @Test func `strokes are held while nobody serves, and refused beyond the bounds`() async throws {
        try await RunningGateway.with(limits: .quick { $0.outcomeTimeout = .milliseconds(100) }) { gateway in
            let path = "/api/rooms/r/strokes?author=anna"
            let held = try await gateway.http.post(path, body: RunningClass.stroke(1))
            #expect(held.text == #"{"results":[{"n":1,"status":"held"}]}"#)
            let large = try await gateway.http.post(path, body: String(repeating: " ", count: (1 << 20) + 1))
            #expect(large.status == .contentTooLarge)
            #expect(try large.errorCode == "too-large")
            #expect(try await gateway.http.post("/api/rooms/r/strokes", body: "{}").status == .badRequest)
            #expect(try await gateway.http.post("/api/rooms/r/strokes?author=A", body: "{}").status == .badRequest)
            #expect(try await gateway.http.post("/api/rooms/R/strokes?author=a", body: "{}").status == .badRequest)
            func flood(_ lines: Int) async throws -> HTTPClient.Response {
                try await gateway.http.send(
                    "POST", path, headers: [("Content-Type", "application/x-ndjson")],
                    body: (0..<lines).map { _ in "x" }.joined(separator: "\n"))
            }
            #expect(try await flood(401).status == .badRequest, "no time to wait would make it possible")
            _ = try await flood(400)
            let refused = try await flood(400)
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] != nil)
            let get = try await gateway.http.get(path)
            #expect(get.status == .methodNotAllowed && get.headers[.allow] == "POST")
        }
    }

    @Test func `a message that is too large is refused, and does not hold up its request`() async throws {
        try await RunningClass.with { lesson in
            let large = #"{"n":2,"a":4}"# + String(repeating: " ", count: PostLimits().messageBytes)
            let response = try await post(
                lesson, "strokes?author=anna",
                [RunningClass.stroke(1), large, RunningClass.stroke(2)].joined(separator: "\n"),
                headers: [("Content-Type", "application/x-ndjson")])
            let outcomes = try results(response)
            #expect(outcomes.map { $0["index"] as? Int } == [1, nil, 2])
            let codes = outcomes.map { ($0["error"] as? NSDictionary)?["code"] as? String }
            #expect(codes == [nil, "too-large", nil])
            #expect(outcomes.map { $0["n"] as? Int } == [1, 2, 2], "a client knows which one it was")
        }
    }

    @Test func `a page of another origin cannot write`() async throws {
        try await RunningClass.with { lesson in
            for (origin, status) in [
                ("http://127.0.0.1:\(lesson.gateway.port)", HTTPResponse.Status.ok),
                ("http://evil.example", .forbidden),
                ("null", .forbidden), ("http://127.0.0.1:1", .forbidden),
            ] {
                let response = try await post(
                    lesson, "strokes?author=anna", RunningClass.stroke(1), headers: [("Origin", origin)])
                #expect(response.status == status, "\(origin)")
            }
        }
    }

    @Test func `the time is told`() async throws {
        try await RunningGateway.with { gateway in
            let time = try await gateway.http.get("/api/time").json
            let received = try #require(time["received"] as? Double)
            let sent = try #require(time["sent"] as? Double)
            #expect(received <= sent && abs(Date().timeIntervalSince1970 * 1000 - sent) < 60_000)
        }
    }
}
