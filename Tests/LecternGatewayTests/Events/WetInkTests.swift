import Foundation
import Hummingbird
import LecternServer
import Locking
import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternGateway

@Suite("Strokes being drawn, over HTTP", .timeLimit(.minutes(4))) struct WetInkTests {
    private static func update(_ number: Int, u: Int, k: Int, _ times: [Int]) -> String {
        let points = times.map { #"{"x":\#($0),"y":1,"m":\#($0)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"u":\#(u),"k":\#(k),"c":1,"l":3,"t":1000,"d":[\#(points)],"p":[{"x":999,"y":9}]}"#
    }

    private func post(
        _ gateway: RunningGateway, _ lines: [String], _ query: String = "?author=anna", headers: [(String, String)] = []
    ) async throws -> HTTPClient.Response {
        try await gateway.http.send(
            "POST", "/api/rooms/r/wet\(query)", headers: [("Content-Type", "application/x-ndjson")] + headers,
            body: lines.joined(separator: "\n") + "\n")
    }

    /// The next event with points of a stroke, or the word that it is given up.
    private func nextWet(_ reader: EventStreamClient) async throws -> ServerSentEvent {
        while true {
            let event = try await reader.next()
            if event.name == "wet" { return event }
        }
    }

    /// The x of the points in an event.
    private func points(_ event: ServerSentEvent, _ key: String = "d") throws -> [Int]? {
        (try event.json[key] as? [NSDictionary])?.compactMap { $0["x"] as? Int }
    }

    @Test("posted ink comes to students when the video has passed it, and to the head at once with predictions")
    func roundTrip() async throws {
        let adjust: @Sendable (inout ServerConfiguration) -> Void = {
            $0.room.cohorts.named = [.main: CohortSettings(ink: .progressive)]
        }
        try await RunningClass.with(clock: 1050, adjust: adjust) { lesson in
            let student = try lesson.read()
            let teacher = try lesson.read("?cohort=head")
            _ = try await student.next()
            _ = try await teacher.next()
            try lesson.draw(1...1, at: 10)
            _ = try await student.nextOperation()
            let answer = try await post(
                lesson.gateway, [Self.update(2, u: 1, k: 0, [0, 20]), Self.update(2, u: 2, k: 2, [40, 100])])
            #expect(answer.status == .accepted && answer.bytes.isEmpty)
            let seen = try await nextWet(student)
            #expect(seen.id == nil)
            #expect(try seen.json["author"] as? String == "anna" && seen.json["n"] as? Int == 2)
            #expect(try points(seen)?.allSatisfy { $0 < 50 } == true && points(seen, "p") == nil)
            var ahead = try await nextWet(teacher)
            while try points(ahead)?.last != 100 { ahead = try await nextWet(teacher) }
            #expect(try points(ahead, "p") == [999])
            try lesson.setClock(1101)
            var grown = try await nextWet(student)
            while try points(grown)?.last != 100 { grown = try await nextWet(student) }

            // Who comes now has nothing of it in the board, but all of it within about a second.
            let late = try lesson.read()
            let board = try await late.next()
            #expect(board.name == "board" && !board.data.contains("999"))
            #expect((try board.json["visible"] as? [NSDictionary])?.count == 1)
            var repeated = try await nextWet(late)
            while try points(repeated)?.first != 0 { repeated = try await nextWet(late) }
            #expect(try points(repeated) == [0, 20, 40, 100])

            _ = try await post(lesson.gateway, [#"{"n":2,"u":3,"x":true}"#])
            for reader in [student, teacher, late] {
                var event = try await nextWet(reader)
                while try event.json["x"] == nil { event = try await nextWet(reader) }
                #expect(event.data == #"{"author":"anna","n":2,"x":true}"# && event.id == nil)
            }
        }
    }

    @Test func `nothing is published of a request with a fault; the session goes along with what is`() async throws {
        try await RunningGateway.with { gateway in
            let came = Locked<[String]>([])
            _ = try gateway.service.connection.subscribe("ink.0.r.wet-in.*") { message in
                let session = message.header(HeaderName.session) ?? ""
                let text = "\(message.subject.split(separator: ".").last ?? "") \(session)"
                came.withLock { $0.append(text) }
            }
            try await gateway.service.connection.flush()
            let good = Self.update(1, u: 1, k: 0, [0])
            let faults: [(String, HTTPResponse.Status, String)] = [
                ("no JSON", .badRequest, "not-json"), ("[]", .badRequest, "wrong-type"),
                (#"{"n":1}"#, .badRequest, "missing-field"), (#"{"n":1,"u":0}"#, .badRequest, "out-of-range"),
                (#"{"n":1,"u":1,"k":0,"e":99,"d":[]}"#, .badRequest, "unknown-element"),
                (good + String(repeating: " ", count: 65_536), .contentTooLarge, "too-large"),
            ]
            for (line, status, code) in faults {
                let answer = try await post(gateway, [good, line])
                #expect(answer.status == status, "\(line.prefix(40))")
                #expect(try answer.errorCode == code, "\(line.prefix(40))")
            }
            #expect(try await post(gateway, [good], "").status == .badRequest)
            #expect(try await post(gateway, [good], "?author=A").status == .badRequest)
            #expect(try await post(gateway, []).status == .badRequest)
            #expect(try await gateway.http.get("/api/rooms/r/wet").status == .methodNotAllowed)
            #expect(try await post(gateway, [good, good], headers: [("Ink-Session", "s1")]).status == .accepted)
            #expect(try await post(gateway, [good], "?author=ben").status == .accepted)
            try await eventually("they are published", is: came.withLock { $0.count } == 3)
            #expect(came.withLock { $0 } == ["anna s1", "anna s1", "ben "])

            // Strokes have a budget of their own.
            #expect(try await post(gateway, Array(repeating: good, count: 401)).status == .badRequest)
            _ = try await post(gateway, Array(repeating: good, count: 390))
            let refused = try await post(gateway, Array(repeating: good, count: 390))
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] != nil)
            #expect(try refused.errorCode == "rate-limited")
        }
    }

    private func release(_ gateway: RunningGateway, _ text: String, of room: String? = "life") throws {
        try gateway.service.connection.publish(
            Array(text.utf8), to: "ink.0.r.wet.main", headers: room.map { [HeaderName.room: $0] } ?? [:])
    }

    @Test("wet ink of another incarnation, or malformed, reaches nobody; missed updates do not come again")
    func passes() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let reader = try gateway.read()
            let zipped = try gateway.read(headers: ["Accept-Encoding": "gzip"])
            _ = try await reader.next()
            _ = try await zipped.next()
            let points = #"{"author":"anna","n":1,"k":0,"d":[{"x":1,"y":2}]}"#
            try release(gateway, points, of: "another")
            try release(gateway, points, of: nil)
            try release(gateway, "no JSON")
            try release(gateway, #"{"author":"anna","n":1,"k":0}"#)
            try release(gateway, points.replacing(",", with: ",\r\n"))
            for reader in [reader, zipped] {
                let event = try await reader.next()
                #expect(event.name == "wet" && event.id == nil)
                #expect(try event.json["d"] as? [NSDictionary] == [["x": 1, "y": 2]])
            }
            #expect(gateway.registry.text().contains("lectern_http_malformed_total 3\n"))
            #expect(gateway.registry.text().contains("lectern_http_wet_events_total 2\n"))
            try gateway.release(1)
            #expect(try await reader.next().id == "life:1")
            let back = try gateway.read("?last=life:0")
            #expect(try await back.next().id == "life:1")
            try gateway.release(2)
            #expect(try await back.next().id == "life:2")
        }
    }

    @Test func `a reader that does not read loses points of strokes being drawn, and no operation`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let stalled = try gateway.stall(receiveBuffer: 4096)
            let reader = try gateway.read()
            _ = try await reader.next()
            try await gateway.hasReaders(2)
            // More than fits into the buffers of its socket and the reader's together.
            let padding = String(repeating: " ", count: 60_000)
            let count = 150
            for number in 1...count {
                try release(gateway, #"{"author":"anna","n":\#(number),"k":0,"d":[{"x":1,"y":2}]\#(padding)}"#)
                if number % 10 == 0 { try gateway.release(number / 10) }
            }
            var last = try await reader.next()
            while last.id != "life:15" { last = try await reader.next() }
            #expect(!gateway.registry.text().contains(#"{reason="slow-reader"} 1"#))
            var text = ""
            while !text.contains("id: life:15\n") {
                let bytes = try #require(stalled.readSome(), "the stream has ended")
                text += String(decoding: bytes, as: UTF8.self)
            }
            let ids = text.matches(of: /id: life:([0-9]+)/).compactMap { Int($0.1) }
            #expect(ids == Array(0...15))
            let points = text.matches(of: /event: wet/).count
            print("\(points) of \(count) messages with points")
            #expect(points < count)
        }
    }
}
