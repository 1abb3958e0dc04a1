import StrokeWire
import TestSupport
import Testing
import Whiteboard

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Real handwriting, where it lies next to the package.
@Suite("Real lessons", .enabled(if: Lessons.areThere, "no lessons in ../shared/data/lessons"))
struct LessonTests {
    @Test(
        "A lesson leaves as many strokes on its last board as its author left",
        arguments: [("cursive-short", 65, 58), ("cursive-long", 1147, 171), ("pencil", 28, 14)])
    func strokes(_ name: String, _ drawn: Int, _ left: Int) throws {
        let probe = try played(name)
        #expect(probe.counts.intake.rejected.isEmpty)
        #expect(probe.counts.draws == drawn)
        #expect(probe.visible.count == left)
        #expect(probe.room.head.digest.value == plainDigest(probe.visible))
        #expect(probe.shown() == probe.applied.map(\.index))
    }

    @Test("A lesson whose messages come shuffled and repeated within a second leaves the same board")
    func shuffled() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let straight = try played("cursive-short")
        let lines = try Lessons.lines(of: "cursive-short")
        var probe = RoomProbe()
        probe.clock(0)
        probe.send(lines[0])
        var rest = (lines.dropFirst() + lines.prefix(40)).enumerated().map {
            ($0.offset + random.int(0...8), $0.element)
        }
        rest.sort { $0.0 < $1.0 }
        for (_, line) in rest {
            probe.wait(.milliseconds(50))
            probe.send(line)
        }
        #expect(probe.room.head.digest == straight.room.head.digest, "seed \(seed)")
        #expect(probe.applied.map(\.restoredMessage) == straight.applied.map(\.restoredMessage), "seed \(seed)")
    }

    /// The lesson at a hundred messages a second, with a clock that has seen all of it.
    private func played(_ name: String) throws -> RoomProbe {
        var probe = try Lessons.sent(name)
        probe.clock(1e7, .main, #","d":true"#)
        probe.wait(.seconds(60))
        return probe
    }
}

enum Lessons {
    static let areThere = Self.path(of: "cursive-short") != nil

    /// A room that a lesson was written to, a hundred messages a second, without a clock.
    static func sent(_ name: String) throws -> RoomProbe {
        var probe = RoomProbe(RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(policy: .hold))))
        for line in try lines(of: name) {
            probe.wait(.milliseconds(10))
            probe.send(line)
        }
        return probe
    }

    static func lines(of name: String) throws -> [[UInt8]] {
        let path = try #require(Self.path(of: name))
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// Next to the package, wherever the sources are linked from.
    private static func path(of name: String) -> String? {
        var roots: [String] = []
        if let root = getenv("LECTERN_SHARED_DATA") { roots.append(String(cString: root)) }
        if let real = realpath(#filePath, nil) {
            defer { free(real) }
            let package = String(cString: real).split(separator: "/").dropLast(4).joined(separator: "/")
            roots.append("/" + package + "/../shared/data")
        }
        return roots.map { $0 + "/lessons/" + name + ".ndjson" }.first { access($0, R_OK) == 0 }
    }
}
