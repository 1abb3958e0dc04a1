import Foundation
import Hosting
import Ink
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// Pictures of boards as they were.
@Suite(.timeLimit(.minutes(5))) struct PastPictureTests {
    private static let forms = [
        ImageRequest(width: 200), ImageRequest(width: 333, background: .transparent), ImageRequest(format: .svg),
        ImageRequest(width: 640, format: .svg, background: .transparent), ImageRequest(format: .pdf),
        ImageRequest(format: .inkml),
    ]

    /// A picture with what its headers say.
    private struct Picture: Equatable {
        let bytes: [UInt8]
        let index: UInt64
        let tag: String
        let room: String

        init(_ reply: NATSReply) throws {
            if let error = RequestError(decoding: reply.payload) { throw error }
            guard let index = reply.header(HeaderName.index).flatMap({ UInt64($0) }),
                let tag = reply.header(HeaderName.tag), let room = reply.header(HeaderName.room)
            else { throw Unexpected("no headers: \(reply.headers)") }
            (bytes, self.index, self.tag, self.room) = (reply.payload, index, tag, room)
        }
    }

    private struct Class: Sendable {
        let client: NATSConnection
        let address: RoomAddress

        func picture(_ request: ImageRequest, head: Bool = false) async throws -> Picture {
            let subject = address.subject(head ? .imageHead : .image(.main))
            return try Picture(try await client.requestParts(request.encoded(), to: subject, timeout: .hangLimit))
        }

        /// The code of a refused request.
        func refusal(_ request: ImageRequest, head: Bool = false) async throws -> RequestError.Code? {
            do {
                _ = try await picture(request, head: head)
                return nil
            } catch let error as RequestError {
                return error.code
            }
        }

        /// Returns when the cohort or the head is at an index.
        func reaches(_ index: UInt64, head: Bool = false) async throws {
            try await eventually(
                "\(head ? "head" : "main") is at \(index)",
                is: await picture(ImageRequest(unless: "*"), head: head).index == index)
        }
    }

    /// A lesson of valid messages.
    private struct Script {
        private var random: SeededGenerator
        private var (done, undone, number) = (0, 0, 0)

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func chance(_ times: Int) -> Bool { random.chance(times, in: 100) }

        mutating func next() -> String {
            number += 1
            switch random.int(0..<10) {
            case 0...1 where done > 0:
                (done, undone) = (done - 1, undone + 1)
                return Hand.command(2, number, at: number * 10)
            case 2...3 where undone > 0:
                (done, undone) = (done + 1, undone - 1)
                return Hand.command(3, number, at: number * 10)
            case 4 where random.chance(30, in: 100):
                (done, undone) = (0, 0)
                return Hand.command(4, number, at: number * 10)
            default:
                (done, undone) = (done + 1, 0)
                let points = (0..<random.int(1...9)).map { _ in
                    #"{"x":\#(random.int(0...400)),"y":\#(random.int(0...300))}"#
                }.joined(separator: ",")
                let look = #""e":\#(random.int(0...4)),"c":\#(random.int(0...7)),"l":\#(random.int(1...20))"#
                return #"{"n":\#(number),\#(look),"t":\#(number * 10),"w":400,"h":300,"d":[\#(points)]}"#
            }
        }
    }

    /// Compares the pictures at every index with those that were served when the cohort was there.
    /// - Returns: how many of the positions the log still leads to.
    private func compare(
        _ served: [[Picture]], _ lesson: Class, released: UInt64, head: UInt64, _ comment: Comment
    ) async throws -> Int {
        var known = 0
        for (index, pictures) in served.enumerated() {
            for (var request, picture) in zip(Self.forms, pictures) {
                request.index = UInt64(index)
                request.incarnation = picture.room
                do {
                    #expect(try await lesson.picture(request) == picture, "index \(index), \(comment)")
                    known += 1
                } catch let error as RequestError {
                    #expect(error.code == .unknownIndex && index < released, "index \(index), \(comment)")
                }
                request.incarnation = "another"
                #expect(try await lesson.refusal(request) == .unknownIndex, "\(comment)")
            }
        }
        for index in released..<head {
            let index = index + 1
            #expect(try await lesson.refusal(ImageRequest(index: index)) == .unknownIndex, "beyond R, \(comment)")
            #expect(try await lesson.picture(ImageRequest(index: index), head: true).index == index, "\(comment)")
        }
        #expect(try await lesson.refusal(ImageRequest(index: head + 1), head: true) == .unknownIndex, "\(comment)")
        return known / Self.forms.count
    }

    @Test func `a picture at an index is the one that was served then, also after a restart and after eviction`()
        async throws
    {
        let seed = TestSeed.choose()
        try await DurableClass.with {
            // Nothing is released but by the clock.
            $0.room.cohorts.defaults.policy = .hold
            $0.checkpoints.interval = .milliseconds(100)
            $0.checkpoints.cursors = .milliseconds(50)
        } _: { durable in
            let lesson = Class(client: durable.client, address: try durable.address("past"))
            let (served, head) = try await durable.serve {
                var script = Script(seed: seed)
                var served: [[Picture]] = []
                for number in 1...40 {
                    try await durable.client.publishDurably(script.next(), to: lesson.address)
                    if number == 1 { try await lesson.reaches(1, head: true) }
                    // Position 0 is that of the blank board.
                    while served.count <= number {
                        try durable.client.setClock(lesson.address, served.count * 10 + 5)
                        try await lesson.reaches(UInt64(served.count))
                        var pictures: [Picture] = []
                        for request in Self.forms { pictures.append(try await lesson.picture(request)) }
                        served.append(pictures)
                        if served.count <= number, script.chance(20) { break }
                    }
                }
                for _ in 0..<5 { try await durable.client.publishDurably(script.next(), to: lesson.address) }
                try await lesson.reaches(45, head: true)
                let known = try await compare(
                    served, lesson, released: UInt64(served.count - 1), head: 45, "at once, seed \(seed)")
                #expect(known == served.count, "seed \(seed)")
                return (served, UInt64(45))
            }
            try await durable.serve {
                try await lesson.reaches(head, head: true)
                let known = try await compare(
                    served, lesson, released: UInt64(served.count - 1), head: head, "after a restart, seed \(seed)")
                #expect(known == served.count, "seed \(seed)")
            }
            var configuration = durable.configuration
            configuration.idle = .milliseconds(300)
            try await RunningDaemon.with(configuration, durable.nats) {
                // Only a room that holds nothing leaves memory.
                try durable.client.setClock(lesson.address, 1000)
                try await lesson.reaches(head)
                try await eventually("the room is evicted", is: await durable.listing().contains(#""asleep":true"#))
                _ = try await compare(served, lesson, released: head, head: head, "after eviction, seed \(seed)")
            }
        }
    }

    @Test
    func `a request that cannot be met has a code, and a tag that is still right spares the picture`() async throws {
        try await RunningService.withRoom("codes") { service, address, hand in
            let lesson = Class(client: service.client, address: address)
            #expect(try await lesson.refusal(ImageRequest()) == .unknownRoom)
            try service.client.setClock(lesson.address, 1000)
            for number in 1...3 { try hand.publish(Hand.stroke(number, at: 10 * number)) }
            try await lesson.reaches(3)
            #expect(try await lesson.refusal(ImageRequest(format: .pdf, background: .transparent)) == .badRequest)
            #expect(try await lesson.refusal(ImageRequest(format: .inkml, background: .transparent)) == .badRequest)
            #expect(try await lesson.refusal(ImageRequest(width: 5, format: .inkml)) == .badRequest)
            #expect(try await lesson.refusal(ImageRequest(index: 4)) == .unknownIndex)
            #expect(try await lesson.refusal(ImageRequest(incarnation: "another")) == .unknownIndex)
            #expect(try await lesson.picture(ImageRequest(page: 0)).index == 3)
            for bad in [#"{"format":"gif"}"#, #"{"width":0}"#, #"{"index":-1}"#, "[]"] {
                let reply = try await service.client.request(
                    Array(bad.utf8), to: lesson.address.subject(.image(.main)), timeout: .hangLimit)
                #expect(RequestError(decoding: reply.payload)?.code == .badRequest, "\(bad)")
            }

            let picture = try await lesson.picture(ImageRequest(width: 100))
            let same = try await lesson.picture(ImageRequest(width: 100, unless: picture.tag))
            #expect(same.bytes.isEmpty && same.tag == picture.tag && same.index == 3 && same.room == picture.room)
            #expect(try await lesson.picture(ImageRequest(width: 101, unless: picture.tag)).bytes.isEmpty == false)
            try hand.publish(Hand.stroke(4, at: 40))
            try await lesson.reaches(4)
            let newer = try await lesson.picture(ImageRequest(width: 100, unless: picture.tag))
            #expect(!newer.bytes.isEmpty && newer.tag != picture.tag)
            let past = try await lesson.picture(
                ImageRequest(width: 100, incarnation: picture.room, index: 3, unless: picture.tag))
            #expect(past.bytes.isEmpty && past.index == 3)
        }
    }

    @Test func `a board of too many points for the memory is no document, but a PNG`() async throws {
        try await RunningService.withRoom("large", .test { $0.canvasBytes = 16 << 20 }) { service, address, hand in
            let lesson = Class(client: service.client, address: address)
            try service.client.setClock(lesson.address, 1000)
            let points = (0..<4000).map { #"{"x":\#($0 % 400),"y":\#($0 % 299)}"# }.joined(separator: ",")
            for number in 1...8 { try hand.publish(#"{"n":\#(number),"l":1,"t":0,"w":400,"h":300,"d":[\#(points)]}"#) }
            try await lesson.reaches(8)
            #expect(try await lesson.refusal(ImageRequest(format: .svg)) == .tooLarge)
            #expect(try await lesson.refusal(ImageRequest(format: .pdf)) == .tooLarge)
            #expect(try await lesson.refusal(ImageRequest(format: .inkml)) == .tooLarge)
            #expect(try await lesson.picture(ImageRequest()).bytes.count > 100)
            #expect(
                try await lesson.picture(ImageRequest(format: .svg, index: 7)).bytes.starts(with: Array("<svg".utf8)))
        }
    }

    @Test func `documents are valid and as wide as was asked`() async throws {
        guard let rsvg = InstalledProgram("rsvg-convert"), let info = InstalledProgram("pdfinfo") else {
            try Test.cancel("rsvg-convert or pdfinfo is not installed")
        }
        try await RunningService.withRoom("documents") { service, address, hand in
            let lesson = Class(client: service.client, address: address)
            try service.client.setClock(lesson.address, 1000)
            for number in 1...20 { try hand.publish(Hand.stroke(number, at: 10, #","e":\#(number % 5)"#)) }
            try await lesson.reaches(20)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("board")
            for background in PictureBackground.allCases {
                let svg = try await lesson.picture(ImageRequest(width: 640, format: .svg, background: background))
                try Data(svg.bytes).write(to: file)
                let png = folder.appendingPathComponent("board.png")
                _ = try rsvg.run(["-o", png.path, file.path])
                let header = Array(try Data(contentsOf: png).prefix(24))
                #expect(header[16..<20].reduce(0) { $0 << 8 | Int($1) } == 640)
                #expect(header[20..<24].reduce(0) { $0 << 8 | Int($1) } == 480)
            }
            let pdf = try await lesson.picture(ImageRequest(width: 640, format: .pdf))
            try Data(pdf.bytes).write(to: file)
            let facts = String(decoding: try #require(try info.run([file.path])), as: UTF8.self)
            #expect(facts.contains("480 x 360 pts"), "\(facts)")
            #expect(facts.contains(/Pages: +1\n/), "\(facts)")
        }
    }
}

@Suite struct PictureTagTests {
    @Test func `a tag names incarnation and index, and changes with all that the bytes depend on`() throws {
        let id = try #require(RoomID("physics"))
        let room = RoomIncarnation(room: id, incarnation: "dn23qtgl30ll-1")
        var tags: [String] = []
        func add(_ configuration: ServerConfiguration, _ form: PictureForm = PictureForm(), at index: UInt64 = 7) {
            tags.append(PictureTags(configuration).tag(of: room, at: index, form))
        }
        var configuration = ServerConfiguration()
        add(configuration, PictureForm(width: 64))
        // That of the transcript.
        #expect(tags == ["dn23qtgl30ll-1.7.ba32b8adc184cb68"])
        add(configuration)
        add(configuration, at: 8)
        add(configuration, PictureForm(format: .svg))
        add(configuration, PictureForm(background: .transparent))
        for page in 0...1 { add(configuration, PictureForm(page: page)) }
        configuration.style = .pen
        add(configuration)
        configuration.canvasScale = 2
        add(configuration)
        configuration.canvasBytes = 64 << 20
        add(configuration)
        configuration.palette = try #require(Palette(["#000000"]))
        add(configuration)
        #expect(Set(tags).count == tags.count)
    }
}
