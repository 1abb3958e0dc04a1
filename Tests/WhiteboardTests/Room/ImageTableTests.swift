import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Which pages of assets a board shows, or could show again.
@Suite struct ImageTableTests {
    private static let assets = (0..<3).compactMap { AssetID(hexadecimal: String(repeating: "\($0)", count: 64)) }

    private static func image(_ number: Int, _ asset: Int, page: Int = 0, on board: Int = 0) -> String {
        #"{"n":\#(number),"e":5,"i":"\#(assets[asset])","p":\#(page),"g":\#(board),"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
    }

    private static func source(_ asset: Int, page: Int = 0) -> ImageSource {
        ImageSource(asset: assets[asset], page: page)
    }

    /// The same by looking at every stroke.
    private static func sources(_ board: Board) -> Set<ImageSource> { Set(board.strokes.compactMap(\.image)) }

    @Test func `A page of an asset is there from its image on, through undo, until it cannot come back`() {
        var probe = RoomProbe()
        probe.send(Self.image(1, 0, page: 7))
        #expect(probe.room.head.hasImage(Self.source(0, page: 7)))
        #expect(!probe.room.head.hasImage(Self.source(0)))
        #expect(!probe.room.head.hasImage(Self.source(1, page: 7)))
        probe.send(#"{"n":2,"a":2}"#)
        #expect(probe.room.head.hasImage(Self.source(0, page: 7)))
        // A new stroke empties the redo stack.
        probe.send(Self.image(3, 1))
        #expect(!probe.room.head.hasImage(Self.source(0, page: 7)))
        #expect(probe.room.head.assets == [Self.assets[1]])
        probe.send(#"{"n":4,"a":4}"#)
        #expect(!probe.room.head.hasImage(Self.source(1)))
        #expect(probe.room.head.assets == [])
    }

    @Test func `An image on a page that is turned away, or out of sight, is there`() {
        var probe = RoomProbe()
        probe.send(Self.image(1, 0, on: 0), #"{"n":2,"a":5,"g":1}"#)
        #expect(probe.room.head.hasImage(Self.source(0)))
        probe.send(#"{"n":3,"a":6,"v":[1]}"#)
        #expect(probe.room.head.hasImage(Self.source(0)))
    }

    @Test func `A cohort has the images of its own position, and none of the operations that it is yet to see`() {
        var probe = RoomProbe(CohortSettings(policy: .hold))
        probe.clock(0)
        probe.send(#"{"n":1,"e":5,"i":"\#(Self.assets[0])","t":5000,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#)
        #expect(probe.room.head.hasImage(Self.source(0)))
        #expect(!probe.room.board(of: .main).hasImage(Self.source(0)))
        probe.clock(4000)
        #expect(!probe.room.board(of: .main).hasImage(Self.source(0)))
        probe.clock(6000)
        #expect(probe.after(.seconds(10)).room.board(of: .main).hasImage(Self.source(0)))
    }

    @Test
    func `The table is that of the strokes, whatever is drawn, undone, redone, cleared, and after a restart`() throws {
        for seed in TestSeed.choose(40) {
            var random = SeededGenerator(seed: seed)
            let history = HistoryConfiguration.random(depth: 1...6, using: &random)
            var probe = RoomProbe(RoomConfiguration(history: history))
            var numbers: [AuthorID: Int] = [:]
            for step in 1...200 {
                let author = random.pick([AuthorID.alice, .bob])
                let number = numbers[author, default: 0] + 1
                numbers[author] = number
                let page = random.int(0...2)
                let text =
                    switch random.int(0...9) {
                    case 0...3: Self.image(number, random.int(0...2), page: random.int(0...1), on: page)
                    case 4: #"{"n":\#(number),"g":\#(page),"d":[{"x":1,"y":2}]}"#
                    case 5...6: #"{"n":\#(number),"a":2,"g":\#(page)}"#
                    case 7...8: #"{"n":\#(number),"a":3,"g":\#(page)}"#
                    default: #"{"n":\#(number),"a":4,"g":\#(page)}"#
                    }
                probe.send(text, by: author)
                let board = probe.room.head
                let expected = Self.sources(board)
                for asset in 0..<3 {
                    for page in 0..<2 {
                        let source = Self.source(asset, page: page)
                        #expect(board.hasImage(source) == expected.contains(source), "seed \(seed), step \(step)")
                    }
                }
                #expect(board.assets == Set(expected.map(\.asset)), "seed \(seed), step \(step)")
            }
            let restored = try probe.restored()
            #expect(restored.head.assets == probe.room.head.assets, "seed \(seed)")
            #expect(restored.head.assets == Set(Self.sources(restored.head).map(\.asset)), "seed \(seed)")
        }
    }
}
