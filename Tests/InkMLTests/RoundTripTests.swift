// InkML in memory: random boards and handwriting written and read back, files as other programs write them, and files
// that want to do harm. Nothing here needs a server.

import InkML
import StrokeWire
import TestSupport
import Testing

/// What is written is read back as it was.
@Suite struct RoundTripTests {
    @Test func `random documents come back as they were`() throws {
        for var random in TestSeed.generators(60) {
            let document = InkDocument.random(using: &random)
            let read = try InkDocument(inkML: document.inkML())
            #expect(read.size == document.size && read.pages.count == document.pages.count, "seed \(random.seed)")
            let different = zip(read.strokes, document.strokes).first { $0 != $1 }
            #expect(different == nil, "seed \(random.seed)")
            #expect(read == document, "seed \(random.seed)")
        }
    }

    @Test(arguments: SampleLesson.available)
    func `handwriting comes back as it was`(_ lesson: SampleLesson) throws {
        let strokes = try lesson.strokes().enumerated().map { place, stroke in
            InkDocument.Stroke(
                index: UInt64(place + 1), author: "ann", element: stroke.element, colour: stroke.colour,
                width: stroke.width, time: Int64(place) * 1000, points: stroke.points)
        }
        let document = InkDocument(
            size: InkDocument.Size(width: 1024, height: 768), pages: [InkDocument.Page(strokes: strokes)])
        let read = try InkDocument(inkML: document.inkML())
        #expect(read == document)
        // A board of the same size changes nothing.
        #expect(read.fitted(to: InkDocument.Size(width: 1024, height: 768)) == document)
    }

    @Test func `a document without strokes has its pages`() throws {
        let document = InkDocument(pages: [InkDocument.Page(number: 3), InkDocument.Page(number: 0)])
        #expect(try InkDocument(inkML: document.inkML()) == document)
    }

    @Test func `a shape is drawn as its outline and comes back as its points`() throws {
        let points = [StrokePoint(x: 10, y: 20), StrokePoint(x: 70, y: 90, force: 0.5), StrokePoint(x: 110, y: 60)]
        for element in [Element.line, .ellipse, .rectangle, .arrow] {
            let stroke = InkDocument.Stroke(element: element, width: 2, points: points)
            let document = InkDocument(pages: [InkDocument.Page(strokes: [stroke])])
            let file = String(decoding: document.inkML(), as: UTF8.self)
            #expect(try InkDocument(inkML: Array(file.utf8)) == document)
            // A program that does not know the annotations sees the outline.
            let plain = file.replacing(/<annotation.*?<\/annotation>/, with: "")
            let drawn = try #require(try InkDocument(inkML: Array(plain.utf8)).strokes.first)
            #expect(drawn.element == .freehand)
            let (x, y) = (drawn.points.map(\.x), drawn.points.map(\.y))
            // The head of an arrow is beside its box.
            #expect(
                element == .arrow || x.min() == 10 && x.max() == 110 && y.min() == 20 && y.max() == 60, "\(element)")
        }
    }

    @Test func `an eraser is a white brush for others`() throws {
        let stroke = InkDocument.Stroke(
            element: .eraser, colour: 0xd92020, width: 24, points: [StrokePoint(x: 1, y: 2), StrokePoint(x: 3, y: 4)])
        let document = InkDocument(pages: [InkDocument.Page(strokes: [stroke])])
        let file = String(decoding: document.inkML(), as: UTF8.self)
        #expect(file.contains("name=\"color\" value=\"#ffffff\""))
        #expect(try InkDocument(inkML: Array(file.utf8)) == document)
    }

    @Test func `the writer says how much it has written`() {
        var writer = InkMLWriter(size: nil)
        writer.beginPage(0)
        var last = writer.byteCount
        for x in 0..<10 {
            writer.add(InkDocument.Stroke(width: 1, points: [StrokePoint(x: Double(x), y: 0)]))
            #expect(writer.byteCount > last)
            last = writer.byteCount
        }
        #expect(writer.finished().count > last)
    }
}

extension InkDocument {
    /// A document with all that one can have, and numbers of all sizes.
    static func random(using random: inout SeededGenerator) -> InkDocument {
        var index: UInt64 = 0
        let numbers = Array(0...999).shuffled(using: &random).prefix(random.int(1...4))
        let pages = numbers.map { number in
            let strokes = (0..<random.int(0...12)).map { _ in
                index += UInt64(random.int(1...5))
                return Stroke.random(index: index, using: &random)
            }
            return Page(number: number, strokes: strokes)
        }
        let hasSize = random.chance(2, in: 3)
        return InkDocument(size: hasSize ? Size(width: random.length(), height: random.length()) : nil, pages: pages)
    }
}

extension InkDocument.Stroke {
    fileprivate static func random(index: UInt64, using random: inout SeededGenerator) -> InkDocument.Stroke {
        let optional = (0..<4).map { _ in random.int(0...2) }
        let elements: [Element] = [.freehand, .line, .ellipse, .rectangle, .eraser, .highlighter, .arrow]
        let points = (0..<random.int(1...30)).map { _ in
            // Never, always, or now and then.
            func value(_ kind: Int, _ make: (inout SeededGenerator) -> Double) -> Double? {
                let isThere = optional[kind] == 1 || optional[kind] == 2 && random.chance(1, in: 2)
                return isThere ? make(&random) : nil
            }
            return StrokePoint(
                x: random.coordinate(), y: random.coordinate(),
                force: value(0) { Double.random(in: 0...1, using: &$0) },
                altitude: value(1) { Double.random(in: -2...2, using: &$0) },
                azimuth: value(2) { Double.random(in: -7...7, using: &$0) },
                milliseconds: value(3) { $0.chance(1, in: 2) ? Double($0.int(-5...100_000)) : $0.coordinate() })
        }
        return InkDocument.Stroke(
            index: random.chance(3, in: 4) ? index : nil,
            author: random.chance(1, in: 2) ? "a-\(random.int(0...3))" : nil,
            element: random.pick(elements), colour: UInt32(random.int(0...0xff_ffff)),
            width: random.chance(4, in: 5) ? random.length() : nil,
            time: random.chance(3, in: 4) ? Int64(random.int(-5_000_000...2_000_000_000_000)) : nil, points: points)
    }
}

extension SeededGenerator {
    fileprivate mutating func coordinate() -> Double {
        switch int(0...4) {
        case 0: Double(int(-65536...65536))
        case 1: Double(int(-655360...655360)) / 10
        case 2: Double.random(in: -1e-4...1e-4, using: &self)
        default: Double.random(in: -65536...65536, using: &self)
        }
    }

    fileprivate mutating func length() -> Double {
        chance(1, in: 2) ? Double(int(1...16384)) : Double.random(in: 0.001...512, using: &self)
    }
}
