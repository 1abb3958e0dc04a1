import StrokeWire
import TestSupport
import Testing

@Suite struct `Writing a message` {
    @Test func `and reading it gives the same message`() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let shards = random.pick([0, 0, 1, 2, 3, 1024])
            let message = StrokeMessage(
                number: random.pick([0, 1, (1 << 53) - 1, Int64.random(in: 0..<(1 << 53), using: &random)]),
                colour: UInt32.random(in: 0..<8, using: &random),
                width: random.pick([1, 512, 0.1, .leastNonzeroMagnitude, .random(in: 0.001...512, using: &random)]),
                shardCount: shards, shardOrder: random.int(0...shards),
                element: random.pick(Element.allCases), action: random.pick(Action.allCases),
                time: random.pick([nil, 0, Int64.min, Int64.max, Int64.random(in: -9999...9999, using: &random)]),
                boardWidth: random.pick([nil, 1, 16384, Double.random(in: 1...16384, using: &random)]),
                boardHeight: random.pick([nil, 768, 1.5]))
            let interior = Array(#"{"x":1,"y":2},{"x":3,"y":4,"?":[]}"#.utf8)
            let bytes = message.encoded(interior: interior[...])
            var expected = message
            if message.action == .draw {
                let end = bytes.count - 2
                expected.points = PointArray(count: 2, interior: (end - interior.count)..<end)
                #expect(bytes[expected.points.interior].elementsEqual(interior))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(try StrokeMessage(decoding: bytes) == expected, "\(text), seed \(seed)")
        }
    }

    @Test func `is compact and in the order of the table`() {
        let message = StrokeMessage(number: 7, colour: 2, width: 2.5, time: -40, boardWidth: 1024, boardHeight: 767.5)
        let bytes = message.encoded(interior: Array(#"{"x":1,"y":2}"#.utf8)[...])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"n":7,"c":2,"l":2.5,"s":0,"o":0,"e":0,"a":1,"t":-40,"w":1024,"h":767.5,"d":[{"x":1,"y":2}]}"#)
    }

    @Test(arguments: [Action.undo, .redo, .clear])
    func `leaves out the points of what is no draw`(action: Action) {
        let bytes = StrokeMessage(number: 7, action: action).encoded(interior: [1, 2, 3])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"n":7,"c":0,"l":1,"s":0,"o":0,"e":0,"a":\#(action.rawValue)}"#)
    }

    @Test(.needsRecordedLessons, arguments: RecordedLesson.allCases)
    func `of a real lesson gives its very bytes`(lesson: RecordedLesson) throws {
        for bytes in try lesson.messages() {
            let message = try StrokeMessage(decoding: bytes)
            // The lessons leave out `s`, `o` and the like nowhere, except in commands.
            guard message.action == .draw else { continue }
            #expect(message.encoded(interior: bytes[message.points.interior]) == bytes)
        }
    }

    @Test func `with a number that JSON cannot hold gives what every reader refuses`() {
        for value in [Double.nan, .infinity, -.infinity] {
            let interior = PointEncoder.interior(of: [StrokePoint(x: value, y: 0)])
            let bytes = StrokeMessage(number: 1).encoded(interior: interior[...])
            #expect(decode(bytes).fault == Fault(.wrongType, "d[0].x"))
        }
    }
}
