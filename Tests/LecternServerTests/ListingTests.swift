import Foundation
import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing

@Suite struct ListingTests {
    private struct List: Decodable {
        struct Line: Decodable {
            let room: String
            let index: Int
        }
        let rooms: [Line]
    }

    private func list(_ service: RunningService) async throws -> [String: Int] {
        let pages = try await service.client.requestMany(to: "ink.rooms", window: .milliseconds(700))
        let lines = try pages.flatMap { try JSONDecoder().decode(List.self, from: Data($0.payload)).rooms }
        return Dictionary(lines.map { ($0.room, $0.index) }) { _, _ in -1 }
    }

    @Test func `twenty who list a thousand rooms at once each hear of every room once`() async throws {
        try await RunningService.with { service in
            let count = 1000
            let heads = try await Inbox(service.client, "ink.0.*.head")
            for number in 0..<count {
                try Hand(service.client, service.address("room-\(number)")).publish(Hand.stroke(1, at: 0))
            }
            _ = try await heads.next(count)
            let expected = Dictionary(uniqueKeysWithValues: (0..<count).map { ("room-\($0)", 1) })
            try await withThrowingTaskGroup(of: [String: Int].self) { group in
                for _ in 0..<20 { group.addTask { try await list(service) } }
                for try await rooms in group { #expect(rooms == expected) }
            }
            // A second later it is another list.
            try Hand(service.client, service.address("one-more")).publish(Hand.stroke(1, at: 0))
            _ = try await heads.next()
            _ = try await eventually("the new room is listed") { try await list(service)["one-more"] }
        }
    }
}
