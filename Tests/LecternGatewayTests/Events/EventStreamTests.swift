import Foundation
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternGateway

@Suite("Event streams", .timeLimit(.minutes(4))) struct EventStreamTests {
    @Test func `a reader gets the board first, then each operation as it is released`() async throws {
        try await RunningClass.with { lesson in
            let early = try lesson.read()
            let empty = try await early.next()
            #expect(empty.name == "board" && empty.id == ":0")
            #expect(try empty.json["visible"] as? [NSDictionary] == [])
            try lesson.draw(1...2)
            let first = try await early.nextOperation()
            let incarnation = try #require(first.id?.split(separator: ":").first)
            #expect(first.name == "op" && first.id == "\(incarnation):1")
            let body = try first.json
            #expect(body["author"] as? String == "anna" && body["digest"] as? String == "910a2dec89025cc1")
            #expect(
                body["message"] as? NSDictionary
                    == (try JSONSerialization.jsonObject(with: Data(RunningClass.stroke(1).utf8)) as? NSDictionary))
            #expect(try await early.nextOperation().id == "\(incarnation):2")

            let late = try lesson.read()
            let board = try await late.next()
            #expect(board.name == "board" && board.id == "\(incarnation):2")
            #expect((try board.json["visible"] as? [NSDictionary])?.count == 2)
            #expect(early.other.contains("text/event-stream") && early.other.contains("retry: 1000"))

            try lesson.publish(#"{"n":3,"a":2,"t":1000}"#)
            for reader in [early, late] {
                let undo = try await reader.nextOperation()
                #expect(undo.id == "\(incarnation):3")
                #expect(try undo.json["ref"] as? Int == 2)
            }
        }
    }

    @Test func `a reader that takes gzip gets the same events in a gzip stream, whenever it comes`() async throws {
        try await RunningClass.with { lesson in
            let plain = try lesson.read()
            let early = try lesson.read(headers: ["Accept-Encoding": "gzip, deflate, br"])
            let first = try await plain.next()
            #expect(try await early.next() == first)
            try lesson.draw(1...5)
            let five = try await plain.next(5)
            #expect(try await early.next(5) == five)
            let late = try lesson.read(headers: ["Accept-Encoding": "deflate;q=1, *;q=0.5"])
            let board = try await late.next()
            #expect(board.name == "board")
            #expect((try board.json["visible"] as? [NSDictionary])?.count == 5)
            try lesson.draw(6...9)
            let four = try await plain.next(4)
            #expect(try await early.next(4) == four)
            #expect(try await late.next(4) == four)
            #expect(late.other.lowercased().contains("content-encoding: gzip"))
            #expect(late.other.contains("retry: 1000"))
            let refusing = try lesson.read(headers: ["Accept-Encoding": "gzip;q=0"])
            #expect(try await refusing.next().name == "board")
            #expect(!refusing.other.lowercased().contains("content-encoding"))
        }
    }

    @Test func `marks come with the position and the video time`() async throws {
        try await RunningClass.with { lesson in
            let reader = try lesson.read()
            _ = try await reader.next()
            try lesson.draw(1...1)
            _ = try await reader.nextOperation()
            let mark = try await reader.next()
            #expect(mark.name == "mark" && mark.id == nil)
            #expect(try mark.json["index"] as? Int == 1)
            #expect(try mark.json["v"] is NSNumber)
        }
    }

    @Test("a board is followed at once by whether the cohort has a video, and a board that is kept by what holds now")
    func gateOfBoard() async throws {
        let adjust = { @Sendable (configuration: inout ServerConfiguration) in
            configuration.room.cohorts.defaults.gate = .auto
            configuration.room.cohorts.named = CohortName("hls").map { [$0: CohortSettings(gate: .auto)] } ?? [:]
        }
        try await RunningClass.with(adjust: adjust) { lesson in
            func gates(_ reader: EventStreamClient) async throws -> [String] {
                #expect(try await reader.next().name == "board")
                let mark = try await reader.next()
                return [mark.name, try mark.json["gate"] as? String ?? "none"]
            }
            let early = try lesson.read("?cohort=hls")
            #expect(try await gates(early) == ["mark", "open"])
            try lesson.draw(1...1)
            _ = try await early.nextOperation()
            // The class has set the clock of `main`.
            #expect(try await gates(lesson.read("?cohort=main")) == ["mark", "video"])
            #expect(try await gates(lesson.read("?cohort=hls")) == ["mark", "open"])
            try lesson.setClock(2000, cohort: try #require(CohortName("hls")))
            // From the next mark on.
            _ = try await eventually("the mark") {
                let event = try await early.next()
                return try event.name == "mark" && event.json["gate"] as? String == "video" ? true : nil
            }
            #expect(try await gates(lesson.read("?cohort=hls")) == ["mark", "video"])
        }
    }

    @Test func `nothing is sent before the video has passed it, but to those who follow the head`() async throws {
        try await RunningClass.with(clock: 500) { lesson in
            let student = try lesson.read("?cohort=main")
            let teacher = try lesson.read("?cohort=head")
            #expect(try await student.next().name == "board")
            #expect(try await teacher.next().name == "board")
            try lesson.draw(1...1, at: 1000)
            #expect(try await teacher.nextOperation().index == 1)
            let late = try await lesson.read().next()
            #expect(try late.index == 0, "\(late)")
            #expect(try await lesson.read("?cohort=head").next().index == 1)
            try lesson.setClock(2000)
            #expect(try await student.nextOperation().index == 1)
        }
    }

    @Test("a reader who comes back gets what it has missed and nothing twice", arguments: ["header", "query"])
    func resumes(by way: String) async throws {
        try await RunningClass.with { lesson in
            try lesson.draw(1...5)
            let first = try lesson.read()
            var last = try await first.nextOperation()
            while try last.index != 5 { last = try await first.nextOperation() }
            let incarnation = try #require(last.id?.split(separator: ":").first)
            let id = "\(incarnation):2"
            let back = try way == "header" ? lesson.read(headers: ["Last-Event-ID": id]) : lesson.read("?last=\(id)")
            #expect(try await back.next(3).map { try $0.index } == [3, 4, 5])
            // The feed ends with its last reader: then the service has what was missed.
            first.close()
            back.close()
            try await lesson.gateway.hasReaders(0)
            let alone = try lesson.read(headers: ["Last-Event-ID": id])
            #expect(try await alone.next(3).map { try $0.index } == [3, 4, 5])
            try lesson.draw(6...6)
            #expect(try await alone.nextOperation().index == 6)

            // Who has more than is released, as after a restart of the service, gets nothing until that has passed it.
            let ahead = try lesson.read(headers: ["Last-Event-ID": "\(incarnation):8"])
            // Admitted once its head is there.
            try await eventually("the stream is open", is: ahead.other.contains("200 OK"))
            try lesson.draw(7...9)
            #expect(try await ahead.nextOperation().index == 9)

            // Ids of another room, and with an index that no operation can have.
            for unknown in ["another:4", "\(incarnation):\(Int64.max)", "\(incarnation):\(UInt64.max)"] {
                let other = try lesson.read(headers: ["Last-Event-ID": unknown])
                #expect(try await other.nextOperation().name == "board", "\(unknown)")
            }
        }
    }

    @Test func `a stroke that goes out in shards comes as one event`() async throws {
        let adjust: @Sendable (inout ServerConfiguration) -> Void = { $0.fanoutBytes = 2000 }
        try await RunningClass.with(adjust: adjust) { lesson in
            let reader = try lesson.read()
            _ = try await reader.next()
            for shard in 0..<3 {
                let points = (0..<100).map { #"{"x":\#($0),"y":\#(shard)}"# }.joined(separator: ",")
                try lesson.publish(#"{"n":1,"s":3,"o":\#(shard),"t":1,"w":400,"h":300,"d":[\#(points)]}"#)
            }
            let message = try await reader.nextOperation().json["message"] as? NSDictionary
            #expect((message?["d"] as? [NSDictionary])?.count == 300)
            #expect(message?["s"] as? Int == 0 && message?["o"] as? Int == 0)
        }
    }

    @Test func `readers who come under load get every operation once, in order`() async throws {
        let seed = TestSeed.choose()
        try await RunningClass.with { lesson in
            var random = SeededGenerator(seed: seed)
            // A burst that the service takes from one author.
            let total = 350
            var readers: [EventStreamClient] = []
            for number in 1...total {
                try lesson.draw(number...number)
                if number % 8 == 0 { try await Task.sleep(for: .milliseconds(2)) }
                if Int.random(in: 0..<30, using: &random) == 0 { readers.append(try lesson.read()) }
            }
            #expect(readers.count > 3)
            for reader in readers {
                let board = try await reader.nextOperation()
                #expect(board.name == "board")
                var index = try board.index ?? -1
                #expect((try board.json["visible"] as? [NSDictionary])?.count == index)
                while index < total {
                    let event = try await reader.nextOperation()
                    #expect(event.name == "op")
                    #expect(try event.index == index + 1)
                    index += 1
                }
            }
            // Far fewer joins than readers would do when each asked for itself.
            #expect(lesson.gateway.registry.text().contains("lectern_http_events_total"))
        }
    }

    @Test func `a lost connection to NATS leaves no hole`() async throws {
        try await RunningClass.with { lesson in
            let reader = try lesson.read()
            _ = try await reader.next()
            try lesson.draw(1...3)
            _ = try await reader.next(3)
            try await lesson.gateway.server.restart()
            try await eventually(
                "all are connected",
                is: lesson.teacher.state == .connected && lesson.gateway.connection.state == .connected)
            // Without a journal, the service and its rooms outlive the server.
            try await lesson.teacher.flush()
            for number in 4...6 {
                let sent = lesson.teacher
                _ = try await eventually("stroke \(number) is applied") {
                    try lesson.publish(RunningClass.stroke(number))
                    try await Task.sleep(for: .milliseconds(50))
                    let state = try await sent.request(to: lesson.address.subject(.info)).payload
                    return String(decoding: state, as: UTF8.self).contains("\"index\":\(number)") ? true : nil
                }
            }
            #expect(try await reader.next(3).map { try $0.index } == [4, 5, 6])
        }
    }
}
