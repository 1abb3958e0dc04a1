import NATSClient
import StrokeWire
import Testing

@testable import LecternServer

/// Samples of many rooms in one message reach each of them as if they had come alone.
@Suite struct ClockBatchTests {
    @Test func `A sample for each room of a message releases what is due there, and nothing else`() async throws {
        try await RunningService.with { service in
            let addresses = try (1...20).map { try service.address("many-\($0)") }
            let out = try await Inbox(service.client, "\(service.configuration.root).*.*.out.main")
            for (number, address) in addresses.enumerated() {
                let hand = try Hand(service.client, address)
                try hand.publish(Hand.stroke(1, at: 1000 + number))
                try hand.publish(Hand.stroke(2, at: 9000))
            }
            var batch = ClockBatch()
            for (number, address) in addresses.enumerated() {
                let sample = ClockSample(media: MediaTime(milliseconds: 1001 + Int64(number)), rate: 0)
                #expect(batch.add(sample, room: address.room, cohort: .main) == true)
            }
            try service.client.publish(
                batch.encoded(), to: ClockBatch.subject(root: service.configuration.root, partition: 0))
            let released = try await out.next(20)
            #expect(Set(released.map(\.subject)) == Set(addresses.map { $0.subject(.out(.main)) }))
            #expect(released.allSatisfy { $0.index == "1" && $0.late == nil })
        }
    }

    @Test func `A bad sample, and one of another partition, leave the others alone`() async throws {
        try await RunningService.with(.test { $0.partitions = 2 }) { service in
            let rooms = try (1...40).map { try service.address("part-\($0)") }
            let here = rooms.filter { $0.partition == 0 }
            let elsewhere = try #require(rooms.first { $0.partition == 1 })
            let (good, bad) = (here[0], here[1])
            let out = try await Inbox(service.client, "\(service.configuration.root).*.*.out.main")
            for address in [elsewhere, bad, good] { try Hand(service.client, address).publish(Hand.stroke(1, at: 500)) }
            let subject = ClockBatch.subject(root: service.configuration.root, partition: 0)
            let text = """
                {"\(elsewhere.room)":{"main":{"m":1000}},"\(bad.room)":{"main":{"m":"soon"}},\
                "\(good.room)":{"main":{"m":1000}}}
                """
            let reply = try await service.client.request(Array(text.utf8), to: subject)
            let error = try #require(RequestError(decoding: reply.payload))
            #expect(error.code == .badRequest && error.partitions == 2)
            #expect(try await out.next().subject == good.subject(.out(.main)))
            // What the first message left alone.
            try service.client.setClock(bad, 1000)
            #expect(try await out.next().subject == bad.subject(.out(.main)))
        }
    }

    @Test func `A message that cannot be read is answered with what is wrong`() async throws {
        try await RunningService.with { service in
            let subject = ClockBatch.subject(root: service.configuration.root, partition: 0)
            for text in ["{", "[]", String(repeating: " ", count: ClockBatch.byteLimit + 1)] {
                let reply = try await service.client.request(Array(text.utf8), to: subject)
                #expect(RequestError(decoding: reply.payload)?.code == .badRequest)
            }
        }
    }
}
