import NATSClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct `Strokes being drawn` {
    private static func configuration() throws -> ServerConfiguration {
        var configuration = ServerConfiguration()
        let hls = try #require(CohortName("hls"))
        configuration.room.cohorts.named = [.main: CohortSettings(ink: .progressive), hls: CohortSettings(ink: .whole)]
        return configuration
    }

    private static func update(_ number: Int64, u: Int64, k: Int, t: Int64, _ milliseconds: [Double]) -> WetUpdate {
        WetUpdate(
            number: number, update: u,
            .points(
                WetPoints(
                    style: WetStrokeStyle(colour: 2, time: t), first: k,
                    points: milliseconds.map { StrokePoint(x: $0, y: 1, milliseconds: $0) },
                    predicted: [StrokePoint(x: 9, y: 9)])))
    }

    private static func points(_ message: Received) throws -> WetPoints {
        guard case .points(let points) = try WetRelease(decoding: message.payload).content else {
            throw Unexpected("no points: \(message.text)")
        }
        return points
    }

    @Test func `reach the students of a progressive cohort point by point, and the head at once`() async throws {
        try await RunningService.withRoom("wet", Self.configuration()) { service, address, hand in
            let hls = try #require(CohortName("hls"))
            let anna = try #require(AuthorID("anna"))
            let wet = try await Inbox(service.client, address.subject(.wet(.main)))
            let whole = try await Inbox(service.client, address.subject(.wet(hls)))
            let head = try await Inbox(service.client, address.subject(.wetHead))
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            try hand.publish(Hand.stroke(1, at: 10))
            try service.client.setClock(address, 1050)
            let first = try await out.next()
            let input = address.subject(.wetInput(anna))
            try service.client.publish(Self.update(2, u: 1, k: 0, t: 1000, [0, 20, 100]).encoded(), to: input)
            let ahead = try await head.next()
            #expect(try Self.points(ahead).points.map(\.x) == [0, 20, 100])
            #expect(try Self.points(ahead).predicted.map(\.x) == [9])
            let due = try await wet.next()
            #expect(due.room == first.room)
            #expect(try Self.points(due).points.map(\.x) == [0, 20])
            #expect(try Self.points(due).predicted.isEmpty)
            try hand.publish(
                #"{"n":2,"c":2,"t":1000,"d":[{"x":0,"y":1,"m":0},{"x":20,"y":1,"m":20},{"x":100,"y":1,"m":100},{"x":101,"y":1,"m":200}]}"#
            )
            try service.client.setClock(address, 1101)
            // Repeats of the beginning may come first.
            while true {
                let message = try await wet.next()
                let release = try WetRelease(decoding: message.payload)
                let points = try Self.points(message)
                guard points.points.last?.x == 100 else { continue }
                #expect(release.index == 2)
                break
            }
            try service.client.setClock(address, 1201)
            #expect(try await out.next().index == "2")
            // One that is given up is taken back.
            try service.client.publish(Self.update(3, u: 1, k: 0, t: 1000, [0]).encoded(), to: input)
            while try await wet.next().text.contains(#""n":2"#) {}
            try service.client.publish(WetUpdate(number: 3, update: 2, .givenUp).encoded(), to: input)
            while try await wet.next().text != #"{"author":"anna","n":3,"x":true}"# {}
            try service.client.publish(Array("rubbish".utf8), to: input)
            try hand.publish(Hand.stroke(3, at: 1))
            #expect(try await out.next().index == "3")
            _ = whole
        }
    }
}
