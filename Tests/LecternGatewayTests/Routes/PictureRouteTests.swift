import Hummingbird
import Locking
import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Pictures over HTTP", .timeLimit(.minutes(4))) struct PictureRouteTests {
    @Test(
        "a picture in several parts comes whole, with a tag that spares sending it again, from a service without tags")
    func parts() async throws {
        try await RunningGateway.with { gateway in
            let png = picture(bytes: 700_000)
            try await gateway.service.answer("ink.0.lesson-7.image.main") { _ in Answer.parts(png, 3) }
            let first = try await gateway.http.get("/api/rooms/lesson-7/board.png")
            #expect(first.status == .ok)
            #expect(first.headers[.contentType] == "image/png")
            #expect(first.headers[.cacheControl] == "private, no-cache")
            #expect(first.bytes == png)

            let tag = try #require(first.headers[.eTag])
            let again = try await gateway.http.get("/api/rooms/lesson-7/board.png", headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            #expect(again.headers[.eTag] == tag)
            #expect(again.headers[.contentLength] == nil)
            #expect(again.bytes.isEmpty)
            let changed = try await gateway.http.get("/api/rooms/lesson-7/board.png", headers: [.ifNoneMatch: "\"x\""])
            #expect(changed.bytes == png)

            let head = try await gateway.http.head("/api/rooms/lesson-7/board.png")
            #expect(head.status == .ok)
            #expect(head.headers[.contentLength] == String(png.count))
            #expect(head.bytes.isEmpty)
        }
    }

    @Test(arguments: [
        ("png", "image.main", "{}"), ("png?width=320", "image.main", #"{"width":320}"#),
        ("png?cohort=hls", "image.hls", "{}"), ("png?cohort=head", "image-head", "{}"),
        ("png?width=4096&cohort=web%5Frtc&z=y", "image.web_rtc", #"{"width":4096}"#),
        ("png?width=1&page=7", "image.main", #"{"width":1,"page":7}"#),
        ("svg?background=transparent", "image.main", #"{"format":"svg","background":"transparent"}"#),
        ("pdf?background=white", "image.main", #"{"format":"pdf"}"#),
        ("inkml?cohort=hls", "image.hls", #"{"format":"inkml"}"#),
        ("png?room=k3f9-17&index=0", "image.main", #"{"room":"k3f9-17","index":0}"#),
    ])
    func `cohort and width reach the service`(query: String, subject: String, payload: String) async throws {
        try await RunningGateway.with { gateway in
            let questions = Locked<[String]>([])
            let format = PictureFormat(rawValue: String(query.prefix { $0 != "?" })) ?? .png
            try await gateway.service.answer("ink.>") { question in
                #expect(question.subject == "ink.0.r.\(subject)")
                questions.withLock { $0.append(question.text) }
                let body = question.text.contains("unless") ? [] : document(format)
                return [Answer(payload: body, headers: [HeaderName.tag: "life.7.0"])]
            }
            let response = try await gateway.http.get("/api/rooms/r/board.\(query)")
            #expect(response.status == .ok)
            #expect(response.bytes == document(format))
            #expect(response.headers[.eTag] == "\"life.7.0\"")
            let separator = payload == "{}" ? "" : ","
            let asked = "\(payload.dropLast())\(separator)\"unless\":\"*\"}"
            #expect(questions.withLock { $0 } == [asked, payload], "the tag, then the picture")
            _ = try await gateway.http.get("/api/rooms/r/board.\(query)")
            #expect(questions.withLock { $0 } == [asked, payload, asked], "the picture is cached")
        }
    }

    @Test func `pictures that are kept go when a room is erased`() async throws {
        try await RunningGateway.with { gateway in
            let drawn = Locked(0)
            try await gateway.service.answer("ink.0.r.image.main") { question in
                if question.text.contains("unless") { return [Answer(payload: [], headers: [HeaderName.tag: "k.4"])] }
                drawn.withLock { $0 += 1 }
                return [Answer(payload: document(.png), headers: [HeaderName.tag: "k.4"])]
            }
            for _ in 0..<3 { #expect(try await gateway.http.get("/api/rooms/r/board.png").status == .ok) }
            #expect(drawn.withLock { $0 } == 1)
            let room = try #require(RoomID("r"))
            try gateway.service.connection.publish(
                ErasedRoom(room: room, assets: []).encoded(), to: ErasedRoom.subject(root: "ink"))
            _ = try await eventually("it is drawn again") {
                _ = try await gateway.http.get("/api/rooms/r/board.png")
                return drawn.withLock { $0 } == 2 ? () : nil
            }
        }
    }

    @Test("a picture with a missing image is kept by nobody, and its own tag decides whether it has changed")
    func incomplete() async throws {
        try await RunningGateway.with { gateway in
            let isThere = Locked(false)
            try await gateway.service.answer("ink.0.r.image.main") { question in
                let tag = isThere.withLock { $0 } ? "k.4.image" : "k.4.frame"
                guard !question.text.contains("unless") else {
                    return [Answer(payload: [], headers: [HeaderName.tag: "k.4.?", HeaderName.incomplete: "1"])]
                }
                var answer = Answer(payload: document(.png), headers: [HeaderName.tag: tag])
                if !isThere.withLock({ $0 }) { answer.headers.append(HeaderName.incomplete, "1") }
                return [answer]
            }
            let path = "/api/rooms/r/board.png?room=k&index=4"
            let frame = try await gateway.http.get(path)
            #expect(frame.headers[.eTag] == "\"k.4.frame\"")
            #expect(frame.headers[.cacheControl] == "private, no-cache")
            #expect(frame.headers[.init("Ink-Incomplete")!] == "1")
            let same = try await gateway.http.get(path, headers: [.ifNoneMatch: "\"k.4.frame\""])
            #expect(same.status == .notModified && same.headers[.cacheControl] == "private, no-cache")
            isThere.withLock { $0 = true }
            let image = try await gateway.http.get(path, headers: [.ifNoneMatch: "\"k.4.frame\""])
            #expect(image.status == .ok && image.headers[.eTag] == "\"k.4.image\"")
            #expect(image.headers[.cacheControl] == "private, max-age=31536000, immutable")
            #expect(image.headers[.init("Ink-Incomplete")!] == nil)
            let known = try await gateway.http.get(path, headers: [.ifNoneMatch: "\"k.4.image\""])
            #expect(known.status == .notModified)
            #expect(known.headers[.cacheControl] == "private, max-age=31536000, immutable")
        }
    }

    @Test func `the address of earlier releases leads to the picture`() async throws {
        try await RunningGateway.with { gateway in
            for (query, target) in [("", ""), ("?width=9&cohort=hls", "?width=9&cohort=hls")] {
                let text = "GET /rooms/r/board.png\(query) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                let connection = try RawConnection(port: gateway.port)
                #expect(connection.send(text))
                let answer = await connection.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 308"), "\(answer)")
                #expect(answer.lowercased().contains("location: ../../api/rooms/r/board.png\(target)\r\n"), "\(answer)")
            }
        }
    }

    @Test("of pictures that nobody has, a number is drawn at a time, each once for all who want it; others are refused")
    func drawings() async throws {
        try await RunningGateway.with { gateway in
            // Holds up drawings until the test opens it.
            let held = Locked<[(width: String, answer: @Sendable () -> Void)]>([])
            let connection = gateway.service.connection
            _ = try connection.subscribe("ink.0.*.image.main") { message in
                guard let inbox = message.reply else { return }
                let text = String(decoding: message.copyPayload(), as: UTF8.self)
                let room = message.subject.split(separator: ".")[2]
                let width = "\(room)\(text.filter(\.isNumber))"
                let headers: NATSHeaders = [HeaderName.tag: "life.7.\(width)"]
                guard !text.contains("unless") else { return try! connection.publish([], to: inbox, headers: headers) }
                held.withLock {
                    $0.append((width, { try! connection.publish(document(.png), to: inbox, headers: headers) }))
                }
            }
            try await gateway.service.connection.flush()
            @Sendable func get(_ room: String, _ width: Int) async throws -> HTTPClient.Response {
                try await gateway.http.get("/api/rooms/\(room)/board.png?width=\(width)")
            }
            func expectRefusal(_ room: String, _ width: Int) async throws {
                let refused = try await get(room, width)
                #expect(refused.status == .serviceUnavailable)
                #expect(refused.headers[.retryAfter] == "1")
                #expect(try refused.errorCode == "not-ready")
            }
            try await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
                for (room, drawn) in [("r", 2), ("s", 4)] {
                    for width in 1...2 { for _ in 0..<3 { group.addTask { try await get(room, width) } } }
                    try await eventually("\(drawn) are being drawn", is: held.withLock { $0.count } == drawn)
                    // One cohort of a room has half of them.
                    try await expectRefusal(room, 3)
                }
                try await expectRefusal("t", 1)
                for drawing in held.withLock({ $0 }) { drawing.answer() }
                for try await response in group { #expect(response.status == .ok) }
            }
            #expect(held.withLock { $0.map(\.width).sorted() } == ["r1", "r2", "s1", "s2"])
            #expect(try await get("s", 2).bytes == document(.png), "it is cached")
        }
    }

    @Test("a picture that is drawn for one feed, or for its newest position, is never sent for another")
    func separateDrawings() async throws {
        try await RunningGateway.with { gateway in
            // All positions have the same tag, until the head moves on while its picture is being drawn.
            let held = Locked<[String]>([])
            let connection = gateway.service.connection
            let future: NATSHeaders = [HeaderName.tag: "life.8.0"]
            let present: NATSHeaders = [HeaderName.tag: "life.7.0"]
            for subject in ["image-head", "image.main"] {
                _ = try connection.subscribe("ink.0.r.\(subject)") { message in
                    guard let inbox = message.reply else { return }
                    let text = String(decoding: message.copyPayload(), as: UTF8.self)
                    if text.contains("unless") {
                        try! connection.publish([], to: inbox, headers: present)
                    } else if subject == "image-head", !text.contains("index") {
                        held.withLock { $0.append(inbox) }
                    } else {
                        try! connection.publish(picture(bytes: 100), to: inbox, headers: present)
                    }
                }
            }
            try await gateway.service.connection.flush()
            async let head = HTTPClient(port: gateway.port).get("/api/rooms/r/board.png?cohort=head")
            let inbox = try await eventually("the head is being drawn") { held.withLock { $0.first } }
            for query in ["cohort=main", "cohort=head&room=life&index=7"] {
                let first = try await gateway.http.get("/api/rooms/r/board.png?\(query)")
                #expect(first.headers[.eTag] == "\"life.7.0\"", "\(query)")
                #expect(first.bytes == picture(bytes: 100), "\(query)")
            }
            try connection.publish(picture(bytes: 2000), to: inbox, headers: future)
            #expect(try await head.headers[.eTag] == "\"life.8.0\"")
        }
    }

    @Test func `widths and cohorts out of the rule are refused`() async throws {
        try await RunningGateway.with { gateway in
            for query in [
                "width=0", "width=4097", "width=-1", "width=+1", "width=1.5", "width=", "width", "width=abc",
                "width=99999999999999999999", "width=%31%30%30%30%30", "page=1000", "page=-1", "page=",
                "background=black",
                "room=k3f9-17", "index=1", "room=k3f9-17&index=", "room=k3f9-17&index=-1", "room=x&index=1e3",
                "room=x&index=9223372036854775807", "cohort=", "cohort=A", "cohort=open",
                "cohort=default", "cohort=a.b", "cohort=%3E",
            ] {
                for format in ["png", "svg", "pdf", "json"] {
                    let response = try await gateway.http.get("/api/rooms/r/board.\(format)?\(query)")
                    #expect(response.status == .badRequest, "\(format) \(query)")
                    #expect(try response.errorCode == "bad-request", "\(format) \(query)")
                }
            }
        }
    }

    @Test func `a page and a rotation are written in digits alone`() async throws {
        try await RunningGateway.with { gateway in
            for path in ["pages/+0/copy", "pages/0x0/rotate", "pages/1000/rotate", "import?author=a&rotate=+90"] {
                let response = try await gateway.http.post("/api/rooms/r/\(path)", body: "{}")
                #expect(response.status == .badRequest, "\(path)")
            }
        }
    }

    @Test(
        arguments: [
            (.text(#"{"error":{"code":"unknown-room","message":"x"}}"#), 404, "unknown-room"),
            (.text(#"{"error":{"code":"unknown-cohort","message":"x"}}"#), 404, "unknown-cohort"),
            (.text(#"{"error":{"code":"unknown-index","message":"x"}}"#), 404, "unknown-index"),
            (.text(#"{"error":{"code":"too-large","message":"x"}}"#), 422, "too-large"),
            (Answer(payload: [], headers: [HeaderName.tag: "a\"b"]), 502, "bad-gateway"),
            (Answer(payload: document(.svg), headers: [HeaderName.tag: "a"]), 502, "bad-gateway"),
            (.text(#"{"error":{"code":"bad-request","message":"x"}}"#), 400, "bad-request"),
            (.text(#"{"error":{"code":"not-ready","message":"x"}}"#), 503, "not-ready"),
            (.text("neither"), 502, "bad-gateway"),
            (Answer(payload: picture(bytes: 9), headers: ["Ink-Part": "3/2"]), 502, "bad-gateway"),
        ] as [(Answer, Int, String)])
    func `each refusal of the service has its own status`(answer: Answer, status: Int, code: String) async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.image.main") { _ in [answer] }
            let response = try await gateway.http.get("/api/rooms/r/board.png")
            #expect(response.status.code == status)
            #expect(try response.errorCode == code)
        }
    }

    private static let pdf = document(.pdf)

    @Test func `a document may take longer than a picture`() async throws {
        try await RunningGateway.with(limits: .quick { $0.pictureTimeout = .milliseconds(50) }) { gateway in
            let inbox = Locked<String?>(nil)
            let connection = gateway.service.connection
            let headers: NATSHeaders = [HeaderName.tag: "life.7.0"]
            _ = try connection.subscribe("ink.0.r.image.main") { message in
                let text = String(decoding: message.copyPayload(), as: UTF8.self)
                if text.contains("unless"), let reply = message.reply {
                    try! connection.publish([], to: reply, headers: headers)
                } else if text.contains("pdf") {
                    inbox.withLock { $0 = message.reply }
                }
            }
            try await connection.flush()
            async let document = HTTPClient(port: gateway.port).get("/api/rooms/r/board.pdf")
            let reply = try await eventually("the document is being drawn") { inbox.withLock { $0 } }
            // Asked later, this has its time already.
            #expect(try await gateway.http.get("/api/rooms/r/board.png").status == .gatewayTimeout)
            try connection.publish(Self.pdf, to: reply, headers: headers)
            #expect(try await document.status == .ok)
        }
    }

    @Test func `a picture that does not come is a timeout, after which it may be asked for again`() async throws {
        try await RunningGateway.with(limits: .quick { $0.pictureTimeout = .milliseconds(50) }) { gateway in
            try await gateway.service.answer("ink.0.r.image.main") { _ in [] }
            let response = try await gateway.http.get("/api/rooms/r/board.png")
            #expect(response.status == .gatewayTimeout)
            #expect(response.headers[.retryAfter] == "1")
            #expect(try response.errorCode == "timeout")
        }
    }
}

/// The shortest file that passes for a picture.
private func document(_ format: PictureFormat) -> [UInt8] {
    switch format {
    case .png: picture(bytes: 1)
    case .svg: Array("<svg/>".utf8)
    case .pdf: Array("%PDF-1.4".utf8)
    case .inkml: Array("<?xml version=\"1.0\"?><ink/>".utf8)
    }
}

@Suite("Entity tags") struct EntityTagTests {
    @Test func `length and FNV-1a of 64 bits`() {
        #expect(EntityTag(of: []).text == "\"0-cbf29ce484222325\"")
        #expect(EntityTag(of: Array("foobar".utf8)).text == "\"6-85944171f73967e8\"")
        #expect(EntityTag(of: [1]) != EntityTag(of: [2]))
    }

    @Test(arguments: ["TAG", "W/TAG", "\"x\", TAG", "\"x\",\tW/TAG ,\"y\"", "*", " * "])
    func `If-None-Match names it alone, in a list, weakly, or as any`(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(tag.matches(header.replacing("TAG", with: tag.text)))
    }

    @Test("other headers do not", arguments: ["", "\"x\"", "w/TAG", ",", "TAGx", "**"])
    func doesNotMatch(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(!tag.matches(header.replacing("TAG", with: tag.text)))
    }
}
