import LecternServer
import NATSClient
import StrokeWire
import Testing

@Suite struct ReleaseTests {
    @Test func `operations reach students byte for byte, in order, with their headers`() async throws {
        try await RunningService.with { service in
            let address = try service.address("room-1")
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let hand = try Hand(service.client, address)
            let sent = (1...40).map { Hand.stroke($0, at: $0 * 10, #","extra":[1,{"z":"\u00e9"}]"#) }
            for text in sent { try hand.publish(text) }
            try service.client.setClock(address, 10_000, #","d":true"#)

            let received = try await out.next(40)
            #expect(received.map(\.text) == sent)
            #expect(received.map(\.index) == (1...40).map(String.init))
            #expect(Set(received.map(\.room)).count == 1)
            #expect(received.allSatisfy { $0.author == "anna" && $0.late == nil && $0.ref == nil })
            var digest = BoardDigest.empty
            for (position, message) in received.enumerated() {
                digest.append(index: UInt64(position + 1))
                #expect(message.digest == digest.description)
            }
        }
    }

    @Test func `no operation is released before the video has passed its time`() async throws {
        try await RunningService.with { service in
            let address = try service.address("room-2")
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let head = try await Inbox(service.client, address.subject(.head))
            let hand = try Hand(service.client, address)
            try service.client.setClock(address, 999)
            for (number, time) in [(1, 998), (2, 999), (3, 1000), (4, 1001)] {
                try hand.publish(Hand.stroke(number, at: time))
            }
            #expect(try await head.next(4).map(\.index) == ["1", "2", "3", "4"])
            #expect(try await out.next().index == "1")
            try service.client.setClock(address, 1001)
            #expect(try await out.next(2).map(\.index) == ["2", "3"])
            // Whoever joins now sees what was released, not what was logged.
            let reply = try await service.client.requestParts(Array("{}".utf8), to: address.subject(.join(.main)))
            #expect(try JoinReply(decoding: reply.payload).index == 3)
            try service.client.setClock(address, 1002)
            #expect(try await out.next().index == "4")
        }
    }

    @Test func `undo, redo and clear name what they move and give the digest after them`() async throws {
        try await RunningService.with { service in
            let address = try service.address("room-3")
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let hand = try Hand(service.client, address)
            try service.client.setClock(address, 100_000, #","d":true"#)
            try hand.publish(Hand.stroke(1, at: 1))
            try hand.publish(Hand.stroke(2, at: 2))
            try hand.publish(Hand.command(2, 3, at: 3))
            try hand.publish(Hand.command(3, 4, at: 4))
            try hand.publish(Hand.command(4, 5, at: 5))
            let received = try await out.next(5)
            #expect(received.map(\.ref) == [nil, nil, "2", "2", nil])
            #expect(received[2].digest == received[0].digest)
            #expect(received[3].digest == received[1].digest)
            #expect(received[4].digest == BoardDigest.empty.description)
        }
    }

    @Test func `a stroke in shards is sent whole where it fits and in shards where it does not`() async throws {
        var configuration = ServerConfiguration()
        configuration.fanoutBytes = 1000
        try await RunningService.with(configuration) { service in
            let address = try service.address("room-4")
            let out = try await Inbox(service.client, address.subject(.out(.main)))
            let hand = try Hand(service.client, address)
            try service.client.setClock(address, 100_000, #","d":true"#)
            func shard(_ number: Int, _ order: Int, of count: Int, points: Int) -> String {
                let points = (0..<points).map { #"{"x":\#(order),"y":\#($0),"k":"\#(number)"}"# }
                return #"{"n":\#(number),"s":\#(count),"o":\#(order),"t":5,"d":[\#(points.joined(separator: ","))]}"#
            }
            for order in [2, 1, 3] { try hand.publish(shard(1, order, of: 3, points: 2)) }
            let whole = try await out.next()
            let header = try StrokeMessage(decoding: whole.payload)
            #expect(header.shardCount == 0 && header.points.count == 6)
            #expect(header.points.decodePoints(of: whole.payload).map(\.x) == [1, 1, 2, 2, 3, 3])

            for order in 0..<4 { try hand.publish(shard(2, order, of: 4, points: 40)) }
            var points = 0
            var count = 1
            while points < 160 {
                let part = try await out.next()
                let header = try StrokeMessage(decoding: part.payload)
                #expect(part.index == "2" && part.payload.count <= 1000)
                #expect(header.shardOrder == count - 1)
                points += header.points.count
                count += 1
            }
            #expect(points == 160)
        }
    }

    @Test func `a mark tells where the cohort stands after a release`() async throws {
        try await RunningService.with { service in
            let address = try service.address("room-5")
            let marks = try await Inbox(service.client, address.subject(.mark(.main)))
            let hand = try Hand(service.client, address)
            try hand.publish(Hand.stroke(1, at: 1))
            try service.client.setClock(address, 50)
            let mark = try Mark(decoding: try await marks.next().payload)
            #expect(mark.index == 1)
            #expect(mark.video == MediaTime(milliseconds: 50))
            var digest = BoardDigest.empty
            digest.append(index: 1)
            #expect(mark.digest == digest)
        }
    }
}
