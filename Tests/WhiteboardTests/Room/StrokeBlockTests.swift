import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Blocks of strokes` {
    /// What is known of a stroke, to compare it with.
    private struct Written {
        let stroke: Stroke
        let index: UInt64
        let author: String
        let points: Int
        let message: [UInt8]

        init(_ index: UInt64, by author: String, points: Int, bytes: Int, in writer: inout StrokeWriter) {
            stroke = writer.write(index, by: author, points: points, bytes: bytes)
            message = Array(repeating: UInt8(truncatingIfNeeded: index), count: bytes)
            (self.index, self.author, self.points) = (index, author, points)
        }

        var isSame: Bool {
            stroke.index == index && stroke.author.text == author && stroke.pointCount == points
                && stroke.isLate == index.isMultiple(of: 7) && stroke.message.bytes == message
                && stroke.messageByteCount == message.count
        }
    }

    @Test(arguments: TestSeed.choose(8))
    func `A block is read as it was written, whatever its size, its author and its number`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var writer = StrokeWriter()
        var written: [Written] = []
        var index: UInt64 = 0
        for _ in 0..<2000 {
            index += random.chance(2, in: 100) ? 1 << UInt64(random.int(1...40)) : 1
            let bytes = random.chance(3, in: 100) ? random.int(1000...200_000) : random.int(0...60)
            let author = "author-\(random.int(1...(random.chance(10, in: 100) ? 200 : 3)))"
            written.append(Written(index, by: author, points: random.int(0...5000), bytes: bytes, in: &writer))
        }
        for stroke in written { #expect(stroke.isSame, "seed \(seed), index \(stroke.index)") }
    }

    @Test(arguments: TestSeed.choose(8))
    func `Copies of a writer do not overwrite each other's strokes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var writers = [(writer: StrokeWriter(), next: UInt64(1))]
        var written: [Written] = []
        for _ in 0..<2000 {
            let position = random.int(0...(writers.count - 1))
            if writers.count < 20, random.chance(2, in: 100) { writers.append(writers[position]) }
            let index = writers[position].next
            writers[position].next += 1
            written.append(
                Written(
                    index, by: "author-\(position)", points: position, bytes: random.int(0...60),
                    in: &writers[position].writer))
        }
        for stroke in written { #expect(stroke.isSame, "seed \(seed), index \(stroke.index)") }
        #expect(writers.count > 10)
    }

    @Test func `Copies of a writer on several threads do not overwrite each other's strokes`() async {
        var writer = StrokeWriter()
        _ = writer.write(1)
        let isSame = await withTaskGroup(of: Bool.self) { [writer] group in
            for number in 0..<4 {
                group.addTask {
                    var copy = writer
                    return (2...2000 as ClosedRange<UInt64>).map {
                        Written($0, by: "author-\(number)", points: number, bytes: Int($0 % 50), in: &copy)
                    }.allSatisfy(\.isSame)
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(isSame)
    }

    @Test(arguments: TestSeed.choose(8))
    func `A board at rest keeps little memory of strokes that are gone, and all others`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = StrokeWriter()
        var board = Board(history: HistoryConfiguration(), size: nil)
        for index in 1...1000 as ClosedRange<UInt64> {
            if random.chance(40, in: 100), let reference = try? board.reference(of: .undo, by: .known("a"), on: 0) {
                board.apply(.undo(reference: reference, page: 0), at: index)
            } else {
                board.apply(.draw(writer.write(index, bytes: random.int(0...60))), at: index)
            }
        }
        let before = board
        if let moves = writer.compact(board.strokes, wasting: 64) { board.move(moves) }
        let strokes = StrokeMoves.distinct(board.strokes)
        let blocks = Dictionary(strokes.map { (ObjectIdentifier($0.block), $0.block.capacity) }) { $1 }
        let needed = strokes.reduce(0) { $0 + $1.byteCount }
        #expect(blocks.values.reduce(0, +) <= needed + needed / 8 + 128, "seed \(seed)")

        var index = board.index + 1
        board.apply(.draw(writer.write(index)), at: index)
        for _ in 0..<20 {
            index += 1
            let reference = try #require(try board.reference(of: .undo, by: .known("a"), on: 0))
            board.apply(.undo(reference: reference, page: 0), at: index)
        }
        #expect(board.visible.elementsEqual(before.visible.dropLast(19)) { Self.isSame($0, $1) }, "seed \(seed)")
    }

    @Test func `A room in use keeps little memory of strokes that are gone`() {
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .none
        configuration.intake.messagesPerSecond = 1_000_000
        configuration.intake.bytesPerSecond = 1 << 30
        configuration.log.tail = 32
        var probe = RoomProbe(configuration)
        var number: Int64 = 0
        var left: [[UInt8]] = []
        for _ in 0..<400 {
            for stroke in 0..<30 {
                number += 1
                let text = draw(number, x: Int(number), points: 40)
                if stroke == 0 { left.append(Array(text.utf8)) }
                probe.send(text)
            }
            for _ in 1..<30 {
                number += 1
                probe.send(undo(number))
            }
        }
        let log = probe.room.log
        #expect(log.head.visible.map(\.message.bytes) == left)
        #expect(probe.room.board(of: .main).visible.map(\.message.bytes) == left)
        let strokes = StrokeMoves.distinct(log.head.strokes + log.base.strokes + log.operations.strokes)
        let blocks = Dictionary(strokes.map { (ObjectIdentifier($0.block), $0.block.capacity) }) { $1 }
        let needed = strokes.reduce(0) { $0 + $1.byteCount }
        #expect(blocks.values.reduce(0, +) <= 2 * needed + (128 << 10))
    }

    private static func isSame(_ one: Stroke, _ other: Stroke) -> Bool {
        one.index == other.index && one.author == other.author && one.isLate == other.isLate
            && one.pointCount == other.pointCount && one.message.bytes == other.message.bytes
    }

    @Test(arguments: [1, 2, 32]) func `Blocks take at most 16 bytes more for each stroke, whoever draws`(authors: Int) {
        var writer = StrokeWriter()
        var blocks: [ObjectIdentifier: StrokeBlock] = [:]
        for index in 1...10_000 as ClosedRange<UInt64> {
            let stroke = writer.write(index, by: "author-\(index % UInt64(authors))", bytes: 30)
            blocks[ObjectIdentifier(stroke.block)] = stroke.block
        }
        let bytes = blocks.values.reduce(0) { $0 + $1.capacity + 80 }
        #expect(bytes <= 10_000 * (30 + 16))
    }
}
