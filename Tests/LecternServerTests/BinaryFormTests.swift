import LecternClient
import LecternDemo
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// Rooms with a cohort in each form, both without a gate.
@Suite struct BinaryFormTests {
    private static let compact = CohortName("compact") ?? .main

    private static let configuration = ServerConfiguration.test {
        $0.room.cohorts.defaults.gate = .none
        $0.room.cohorts.named[compact] = CohortSettings(gate: .none, encoding: .binary)
        $0.room.intake.bytesPerSecond = 1 << 30
    }

    @Test func `a cohort in binary sees what one in JSON sees`() async throws {
        try await RunningService.withRoom("both", Self.configuration) { service, address, _ in
            let lesson = try DemoLesson.make()
            let json = try await Inbox(service.client, address.subject(.out(.main)))
            let binary = try await Inbox(service.client, address.subject(.out(Self.compact)))
            let teacher = try await service.connect()
            let author = try #require(AuthorID("teacher"))
            let report = try await Teacher(connection: teacher, address: address, author: author, logger: .silent)
                .publish(PublishPlan(lesson, speed: 200))
            #expect(report.isComplete)
            var sizes = (json: 0, binary: 0)
            for _ in 0..<report.lastIndex {
                let (plain, packed) = (try await json.next(), try await binary.next())
                #expect(!BinaryMessage.isBinary(plain.payload) && BinaryMessage.isBinary(packed.payload))
                #expect(try BinaryMessage.json(of: packed.payload) == plain.payload)
                #expect(plain.index == packed.index && plain.digest == packed.digest && plain.ref == packed.ref)
                #expect(plain.author == packed.author && plain.room == packed.room && plain.late == packed.late)
                sizes = (sizes.json + plain.payload.count, sizes.binary + packed.payload.count)
            }
            #expect(sizes.binary * 6 < sizes.json, "\(sizes)")
            var pictures: [[UInt8]] = []
            for cohort in [CohortName.main, Self.compact] {
                pictures.append(try await service.client.answer(from: address.subject(.image(cohort))))
            }
            #expect(pictures[0] == pictures[1] && pictures[0].count > 1000)
            await teacher.close()
        }
    }

    @Test func `a stroke from shards is cut again only where its binary form is too large, and joined`() async throws {
        var configuration = Self.configuration
        configuration.fanoutBytes = 2048
        try await RunningService.withRoom("shards", configuration) { service, address, hand in
            let out = try await Inbox(service.client, address.subject(.out(Self.compact)))
            func publish(_ number: Int, points: Int) throws {
                for order in 0..<2 {
                    let part = (order * points..<(order + 1) * points).map { #"{"x":\#($0),"y":\#($0 * 7919 % 700)}"# }
                    try hand.publish(
                        #"{"n":\#(number),"s":2,"o":\#(order),"t":1,"d":[\#(part.joined(separator: ","))]}"#)
                }
            }
            try publish(1, points: 150)
            let whole = try await out.next()
            var points: [StrokePoint] = []
            #expect(try !BinaryMessage.decode(whole.payload, points: &points).isSharded)
            #expect(points.count == 300 && whole.payload.count < 2048)

            try publish(2, points: 2000)
            var count = 0
            while count < 4000 {
                let shard = try await out.next()
                let header = try BinaryMessage.decode(shard.payload, points: &points)
                #expect(header.isSharded && shard.index == "2" && shard.payload.count <= 2048)
                count += points.count
            }
            #expect(count == 4000)
            let student = Student(
                connection: service.client, address: address, cohort: Self.compact, encoding: .binary, logger: .silent)
            let board = try await student.follow(for: .seconds(20)) { _, session in session.board.index < 2 }.board
            #expect(board.visible.map { $0.message.bytes.count > 4000 } == [true, true])
        }
    }
}
