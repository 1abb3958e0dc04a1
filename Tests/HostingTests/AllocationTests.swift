import AllocationCounter
import Hosting
import StrokeWire
import Testing
import Whiteboard

/// Whether the allocator can be counted, and the code is optimised as in the daemon.
private let allocationsAreCounted: Bool = {
    var isOptimised = true
    assert(
        {
            isOptimised = false
            return true
        }())
    let before = allocation_count()
    withExtendedLifetime(UnsafeMutablePointer<Int>.allocate(capacity: 100)) { $0.deallocate() }
    return isOptimised && allocation_count() > before
}()

/// Blocks of memory that a message takes on its way through the rooms of a worker. The documentation of `RoomHost` states
/// the numbers.
@Suite("Allocations", .enabled(if: allocationsAreCounted))
struct AllocationTests {
    @Test(arguments: [1, 14, 300])
    func `A stroke in one message takes 5 blocks or fewer, whatever its number of points`(points: Int) throws {
        #expect(try blocksPerMessage { .stroke($0, points: points) } <= 5)
    }

    @Test func `An undo and a redo take 4 blocks or fewer`() throws {
        #expect(try blocksPerMessage { $0 < 10 ? .stroke($0, points: 14) : .edit($0, isUndo: $0 % 2 == 0) } <= 4)
    }

    @Test func `A clock sample takes 4 blocks or fewer`() throws {
        let host = Self.host(gate: .video)
        var now = Instant(nanoseconds: 1_000_000_000_000)
        let samples = (0..<2000).map { number in
            IncomingSample(
                room: .algebra, partition: 0, cohort: .main,
                bytes: Array(#"{"m":\#(number * 250),"q":\#(number)}"#.utf8),
                arrivedAt: now + .milliseconds(number * 250))
        }
        var before: UInt64 = 0
        for (number, sample) in samples.enumerated() {
            if number == 1000 { before = allocation_count() }
            now = sample.arrivedAt
            host.sample(sample, at: now)
        }
        #expect(Double(allocation_count() - before) / 1000 <= 4)
    }

    /// The blocks that each of the last 4,000 of 8,000 messages took, with what grows now and then: pages, the log, lists.
    private func blocksPerMessage(_ message: (Int) -> Message) throws -> Double {
        let host = Self.host(gate: .none)
        let author = try #require(AuthorID("ann"))
        var now = Instant(nanoseconds: 1_000_000_000_000)
        let messages = (1...8000).map { message($0).bytes }
        var before: UInt64 = 0
        for (number, bytes) in messages.enumerated() {
            if number == 4000 { before = allocation_count() }
            now = now + .milliseconds(1)
            host.take(
                JournalRecord(
                    partition: 0, room: .algebra, content: .message(author: author, session: nil, bytes: bytes),
                    sequence: UInt64(number + 1), loggedAt: now),
                arrivedAt: now, at: now)
            host.advance(to: now)
        }
        return Double(allocation_count() - before) / 4000
    }

    private static func host(gate: CohortSettings.Gating) -> RoomHost<DiscardingOutput> {
        let now = Instant(nanoseconds: 1_000_000_000_000)
        let host = RoomHost(
            configuration: HostConfiguration(
                room: RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(gate: gate))),
                checkpoints: nil, idle: .seconds(60), rooms: 100, departing: 0, waitingBytes: 1 << 20,
                sleepingBytes: 1 << 20, unsentBytes: 1 << 20),
            output: DiscardingOutput(), isOutputOpen: true)
        host.open(0, prefix: "log", stored: [:], kept: nil, at: now)
        host.setLogClock(of: 0, ahead: .zero)
        host.caughtUp(0, at: now)
        return host
    }

    private struct Message {
        let bytes: [UInt8]

        static func stroke(_ number: Int, points: Int) -> Message {
            let coordinates = (0..<points).map { #"{"x":\#(100 + $0 % 500).\#(number % 10),"y":\#(200 + $0 % 300)}"# }
            let head = #""n":\#(number),"c":1,"l":3,"s":0,"o":0,"e":0,"a":1,"t":\#(number),"w":1024,"h":768"#
            return Message(bytes: Array(#"{\#(head),"d":[\#(coordinates.joined(separator: ","))]}"#.utf8))
        }

        static func edit(_ number: Int, isUndo: Bool) -> Message {
            Message(bytes: Array(#"{"n":\#(number),"a":\#(isUndo ? 2 : 3),"t":\#(number)}"#.utf8))
        }
    }
}

/// Throws all effects away, and keeps nothing.
private final class DiscardingOutput: HostOutput {
    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool { true }
    func confirm() {}
    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? { nil }
    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {}
    func save(_ request: SaveRequest) {}
}
