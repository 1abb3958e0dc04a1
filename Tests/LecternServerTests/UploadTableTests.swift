import Assets
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct UploadTableTests {
    private let start = Instant(nanoseconds: 0)

    private static func room(_ name: String = "physics") throws -> RoomID { try #require(RoomID(name)) }

    @Test func `Parts in order make the file, a repeated one counts once`() throws {
        for var generator in TestSeed.generators(50) {
            let file = (0..<generator.int(1...5000)).map { UInt8(truncatingIfNeeded: $0) }
            var table = UploadTable(byteLimit: 10_000)
            #expect(table.begin("a", try Self.room(), bytes: file.count, at: start) == nil)
            var offset = 0
            while offset < file.count {
                let part = Array(file[offset..<min(file.count, offset + generator.int(1...700))])
                #expect(table.receive("a", offset: offset, part, at: start) == .taken)
                if generator.chance(1, in: 4) { #expect(table.receive("a", offset: offset, part, at: start) == .taken) }
                offset += part.count
            }
            let whole = UploadTable.Outcome.whole(file, password: nil, try Self.room())
            #expect(table.receive("a", offset: offset, [], at: start) == whole, "seed \(generator.seed)")
            #expect(table.byteCount == file.count)
            table.end("a")
            #expect(table.byteCount == 0)
        }
    }

    @Test func `A missing part, or more than was announced, ends the upload`() throws {
        var table = UploadTable(byteLimit: 1000)
        for (offset, part) in [
            (5, [1, 2]), (0, [UInt8](repeating: 1, count: 11)), (-1, [1]), (3, []), (.max, [1]), (.min, [1]),
        ] as [(Int, [UInt8])] {
            #expect(table.begin("a", try Self.room(), bytes: 10, at: start) == nil)
            guard case .refused = table.receive("a", offset: offset, part, at: start) else {
                throw Unexpected("\(offset) \(part.count)")
            }
            #expect(table.byteCount == 0)
            guard case .refused = table.receive("a", offset: 0, [1], at: start) else { throw Unexpected("it goes on") }
        }
    }

    @Test func `Uploads of a byte each are bounded in number, and those of one room leave places to others`() throws {
        var table = UploadTable(byteLimit: 100_000)
        for room in 0..<UploadTable.countLimit / UploadTable.roomLimit {
            let own = try Self.room("room-\(room)")
            for number in 0..<UploadTable.roomLimit {
                #expect(table.begin("\(room) \(number)", own, bytes: 1, at: start) == nil)
            }
            #expect(table.begin("one more", own, bytes: 1, at: start) == .busy)
        }
        #expect(table.begin("m", try Self.room("maths"), bytes: 1, at: start) == .busy)
        // What waits too long gives its place back.
        #expect(table.begin("m", try Self.room("maths"), bytes: 1, at: start + .seconds(31)) == nil)
    }

    @Test func `Announced bytes are bounded, those of one room to half, but one file of it in any case`() throws {
        var table = UploadTable(byteLimit: 100)
        let (physics, chemistry) = (try Self.room(), try Self.room("chemistry"))
        #expect(table.begin("a", physics, bytes: 30, at: start) == nil)
        #expect(table.begin("b", physics, bytes: 30, at: start) == .busy)
        #expect(table.begin("c", physics, bytes: 20, at: start) == nil)
        #expect(table.begin("d", chemistry, bytes: 60, at: start) == .busy)
        table.end("a")
        #expect(table.begin("d", chemistry, bytes: 60, at: start) == nil)
        #expect(table.byteCount == 80)
        #expect(table.begin("e", chemistry, bytes: 0, at: start) != nil)
        #expect(table.begin("f", chemistry, bytes: AssetLimits.bytes + 1, at: start) != nil)
    }

    @Test func `An upload without parts for a while gives its bytes back`() throws {
        var table = UploadTable(byteLimit: 100)
        let room = try Self.room()
        #expect(table.begin("a", room, bytes: 100, at: start) == nil)
        #expect(table.receive("a", offset: 0, [1], at: start + .seconds(20)) == .taken)
        #expect(table.begin("b", room, bytes: 100, at: start + .seconds(50)) == .busy)
        #expect(table.begin("b", room, bytes: 100, at: start + .seconds(51)) == nil)
        guard case .refused = table.receive("a", offset: 1, [1], at: start + .seconds(51)) else {
            throw Unexpected("it goes on")
        }
        // Where no other one begins, too.
        table.expire(at: start + .seconds(81))
        #expect(table.byteCount == 100)
        table.expire(at: start + .seconds(82))
        #expect(table.byteCount == 0 && table.isEmpty)
    }

    @Test func `An upload that sends a part now and then ends after five minutes`() throws {
        var table = UploadTable(byteLimit: 100)
        #expect(table.begin("a", try Self.room(), bytes: 100, at: start) == nil)
        for second in stride(from: 20, through: 300, by: 20) {
            table.expire(at: start + .seconds(second))
            #expect(table.receive("a", offset: second / 20 - 1, [1], at: start + .seconds(second)) == .taken)
        }
        table.expire(at: start + .seconds(301))
        #expect(table.byteCount == 0 && table.isEmpty)
    }

    @Test func `A whole file is counted until it is stored`() throws {
        var table = UploadTable(byteLimit: 100)
        #expect(table.begin("a", try Self.room(), bytes: 100, at: start) == nil)
        #expect(table.receive("a", offset: 0, [1, 2], at: start) == .taken)
        #expect(table.receive("a", offset: 2, [], at: start) == .whole([1, 2], password: nil, try Self.room()))
        guard case .refused = table.receive("a", offset: 2, [], at: start) else {
            throw Unexpected("it is stored twice")
        }
        #expect(table.begin("b", try Self.room(), bytes: 1, at: start + .seconds(1000)) == .busy)
        table.end("a")
        #expect(table.begin("b", try Self.room(), bytes: 1, at: start + .seconds(1000)) == nil)
    }
}
