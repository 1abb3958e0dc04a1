import Assets
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

/// Whose rendering is next, and who waits for it.
@Suite struct RenderScheduleTests {
    private let start = Instant(nanoseconds: 0)
    private static let asset = AssetID(hexadecimal: String(repeating: "a", count: 64))

    private static func key(_ width: Int) throws -> RenderSchedule.Key {
        RenderSchedule.Key(asset: try #require(asset), page: 0, width: width)
    }

    private static func waiter(
        _ room: String, _ reply: String, _ view: RoomFeed = .cohort(.main)
    ) throws -> RenderSchedule.Waiter {
        RenderSchedule.Waiter(feed: RenderSchedule.Feed(room: try #require(RoomID(room)), view: view), reply: reply)
    }

    @Test func `Requests for one picture share its rendering`() throws {
        var schedule = RenderSchedule()
        let waiters = [try Self.waiter("a", "1"), try Self.waiter("b", "2"), try Self.waiter("a", "3", .head)]
        #expect(schedule.add(try Self.key(1), for: waiters[0], at: start) == .start)
        #expect(schedule.add(try Self.key(1), for: waiters[1], at: start) == .waits)
        #expect(schedule.next(at: start) == .render(try Self.key(1)))
        // While it is rendered, too.
        #expect(schedule.add(try Self.key(1), for: waiters[2], at: start) == .waits)
        #expect(schedule.finish(try Self.key(1)) == waiters)
        #expect(schedule.next(at: start) == nil)
        #expect(schedule.add(try Self.key(1), for: waiters[0], at: start) == .start)
    }

    @Test func `A client that asks for thousands of pictures waits for a few, and keeps nobody else waiting`() throws {
        var schedule = RenderSchedule()
        var refused = 0
        for width in 1...4096 {
            let waiter = try Self.waiter("flooded", "\(width)")
            if schedule.add(try Self.key(width), for: waiter, at: start) == .refused { refused += 1 }
        }
        #expect(refused == 4096 - RenderSchedule.feedLimit)
        let teacher = try Self.waiter("flooded", "teacher", .head)
        #expect(
            schedule.add(
                RenderSchedule.Key(asset: try #require(Self.asset), page: 1, width: 1), for: teacher, at: start)
                == .waits)
        #expect(schedule.next(at: start) == .render(try Self.key(1)))
        #expect(schedule.finish(try Self.key(1)).map(\.reply) == ["1"])
        // The second turn is the teacher's.
        guard case .render(let key)? = schedule.next(at: start) else { throw Unexpected("nothing is rendered") }
        #expect(schedule.finish(key) == [teacher])
    }

    @Test func `All together wait for a bounded number of renderings`() throws {
        var schedule = RenderSchedule()
        var taken = 0
        for room in 0..<100 {
            for width in 1...10 {
                let key = RenderSchedule.Key(asset: try #require(Self.asset), page: room, width: width)
                if schedule.add(key, for: try Self.waiter("r\(room)", "\(width)"), at: start) != .refused { taken += 1 }
            }
        }
        #expect(taken == RenderSchedule.limit)
        #expect(schedule.removeAll().count == RenderSchedule.limit)
        #expect(schedule.next(at: start) == nil)
    }

    @Test func `A picture that has waited longer than clients do is not rendered`() throws {
        var schedule = RenderSchedule()
        let (late, early) = (try Self.waiter("a", "late"), try Self.waiter("a", "early"))
        _ = schedule.add(try Self.key(1), for: late, at: start)
        _ = schedule.add(try Self.key(2), for: early, at: start + .seconds(10))
        #expect(schedule.next(at: start + .seconds(16)) == .refuse([late]))
        #expect(schedule.next(at: start + .seconds(16)) == .render(try Self.key(2)))
    }
}

@Suite struct RecentUsesTests {
    private let start = Instant(nanoseconds: 0)

    private func asset(_ number: Int) throws -> AssetID {
        try #require(AssetID(digest: (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }))
    }

    @Test func `A use is told once in its interval, and again after it`() throws {
        var uses = RecentUses(interval: .seconds(80))
        let asset = try asset(1)
        #expect(uses.note([asset], at: start) == true)
        #expect(uses.next() == asset)
        #expect(uses.next() == nil)
        var told: [Int] = []
        for second in stride(from: 0, to: 800, by: 5) {
            _ = uses.note([asset], at: start + .seconds(second))
            if uses.next() != nil { told.append(second) }
        }
        for (one, next) in zip([0] + told, told) { #expect(40...80 ~= next - one, "\(told)") }
        // Nobody has noted anything for long.
        _ = uses.note([asset], at: start + .seconds(10_000))
        #expect(uses.next() == asset)
        #expect(told.last ?? 0 >= 720, "\(told)")
    }

    @Test func `A use that could not be reported is reported later, and the number of waiting uses is bounded`() throws
    {
        var uses = RecentUses(interval: .seconds(80))
        let first = try asset(1)
        _ = uses.note([first], at: start)
        _ = uses.next()
        uses.failed(first)
        #expect(uses.next() == first)
        var told = 0
        _ = uses.note(try (0..<2 * RecentUses.limit).map { try asset($0) }, at: start)
        while uses.next() != nil { told += 1 }
        #expect(told <= RecentUses.limit && told >= RecentUses.limit - 1)
    }
}
