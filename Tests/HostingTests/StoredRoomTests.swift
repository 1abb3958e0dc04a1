import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Hosting

/// A function of the C library that no module exports.
@_silgen_name("malloc_usable_size")
private func usableSize(_ memory: UnsafeRawPointer) -> Int

@Suite struct StoredRoomTests {
    private let hls = CohortName("hls")

    private func stored(_ number: UInt64, isQuiet: Bool = true) -> StoredRoom {
        StoredRoom(
            sequence: 1 << 40 + number, handled: 1 << 40 + number + 3,
            cursors: [.main: CohortCursor(100_000 + number), hls ?? .main: 99_000], isQuiet: isQuiet, hasState: true,
            incarnation: "c5qk3mz2v9wg-\(1 << 39 + number)")
    }

    /// The memory of an array in bytes, with the allocator's overhead.
    private func size(_ bytes: [UInt8]) -> Int { usableSize(unsafeBitCast(bytes, to: UnsafeRawPointer.self)) + 8 }

    @Test func `a room with a name of sixteen bytes and two cohorts takes at most 200 bytes`() throws {
        for isQuiet in [true, false] {
            var rooms = StoredRooms()
            let start = Instant(nanoseconds: 0)
            for number in 0..<50_000 {
                let name = "lesson-" + String(100_000_000 + number)
                rooms.put(
                    stored(UInt64(number), isQuiet: isQuiet), of: try #require(RoomID(name)), isCounted: true,
                    wake: isQuiet ? nil : start + .seconds(number % 60), until: start + .seconds(86400 * 30))
                guard [20_000, 32_769, 49_999].contains(number) else { continue }
                let each = Double(rooms.footprint(sizeOf: size)) / Double(rooms.count)
                #expect(each <= 200, "\(each) bytes of \(rooms.count) rooms")
            }
        }
    }

    @Test func `a stored room is taken as it was put, whatever comes between`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var rooms = StoredRooms()
        var plain: [RoomID: StoredRoom] = [:]
        let names = try (0..<300).map { try #require(RoomID("r\($0)-" + String(repeating: "x", count: $0 % 60))) }
        for step in 0..<20_000 {
            let name = try #require(names.randomElement(using: &random))
            switch random.int(0...2) {
            case 0: #expect(rooms.take(name)?.stored == plain.removeValue(forKey: name))
            case 1: #expect(rooms[name] == plain[name])
            default:
                var state = stored(UInt64(step), isQuiet: step % 2 == 0)
                if step % 7 == 0 { state.incarnation = ["", "a", "a-b", "a-007", "-1"][step % 5] }
                if step % 5 == 0 { state.cursors = [:] }
                if step % 11 == 0 {
                    let since = step % 2 == 0 ? Instant(nanoseconds: Int64(step) - 10_000) : nil
                    state.cursors[.main] = CohortCursor(7, pausedTime: .seconds(step), pausedSince: since)
                }
                if step % 3 == 0 {
                    let epoch: Int64 = [-1, 0, 5, (1 << 53) - 1][step % 4]
                    state.cursors[.main]?.clock = SavedClock(
                        epoch: epoch,
                        media: MediaTime(microseconds: Int64(step * step) * (step % 2 == 0 ? -1 : 1 << 30)))
                }
                rooms.put(state, of: name, isCounted: true, until: nil)
                plain[name] = state
            }
        }
        #expect(rooms.count == plain.count)
        #expect(Set(rooms.names) == Set(plain.keys))
        for (name, state) in plain { #expect(rooms.take(name)?.stored == state) }
        #expect(rooms.count == 0)
    }

    @Test func `rooms are named when they have to be back, and go in the order in which they came`() throws {
        var rooms = StoredRooms()
        let start = Instant(nanoseconds: 0)
        let names = try (0..<10).map { try #require(RoomID("room-\($0)")) }
        for (number, name) in names.enumerated() {
            rooms.put(
                stored(1), of: name, isCounted: true, wake: start + .seconds(10 - number),
                until: start + .seconds(100 + number))
        }
        _ = rooms.take(names[9])
        rooms.setWake(start + .seconds(20), of: names[8])
        #expect(rooms.popDue(at: start + .seconds(2)) == nil)
        #expect(rooms.popDue(at: start + .seconds(3)) == names[7])
        #expect(rooms.popDue(at: start + .seconds(3)) == nil)
        #expect(rooms.takeGone(at: start + .seconds(99))?.room == nil)
        #expect(rooms.takeGone(at: start + .seconds(101))?.room == names[0])
        #expect(rooms.takeGone(at: start + .seconds(101))?.room == names[1])
        #expect(rooms.takeGone(at: start + .seconds(101))?.room == nil)
        #expect(rooms.nextEnd == start + .seconds(102))
    }
}

@Suite struct CohortCostTests {
    @Test func `an input that releases nothing costs the same whatever the number of cohorts`() throws {
        let few = try cost(cohorts: 4)
        let many = try cost(cohorts: 1024)
        // Of 256 times as many: they lie farther apart in memory, which a busy machine makes slower.
        #expect(many < few * 32, "\(few) with 4 cohorts, \(many) with 1,024")
    }

    /// The time of repeats, held operations and clock samples in a room whose cohorts hold operations.
    private func cost(cohorts count: Int) throws -> Duration {
        let names = try (1...count).map { try #require(CohortName("c\($0)")) }
        let held = CohortSettings(policy: .hold)
        let probe = HostProbe(
            cohorts: CohortsConfiguration(
                defaults: held, named: Dictionary(uniqueKeysWithValues: names.map { ($0, held) }), open: false))
        for name in names + [.main] { probe.sample(#"{"m":1000}"#, cohort: name) }
        func draw(_ number: Int) { probe.send(#"{"n":\#(number),"t":50000,"d":[{"x":1,"y":1}]}"#) }
        draw(1)
        probe.save()
        var next = 2
        return leastProcessorTime {
            for turn in 0..<30 {
                draw(next)
                draw(next)
                probe.sample(#"{"m":1000}"#, cohort: names[turn % count])
                next += 1
            }
        }
    }
}
