import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct PackedMessageTests {
    private var templates = TemplateTable()

    private func packed(_ text: String, _ templates: inout TemplateTable) throws -> PackedMessage {
        let bytes = Array(text.utf8)
        let header = try StrokeMessage(decoding: bytes, limits: WireLimits())
        return PackedMessage(bytes, points: header.points, templates: &templates)
    }

    @Test(arguments: [
        #"{"n":1,"d":[{"x":1,"y":2}]}"#,
        #"{"n":1,"c":0,"l":2.5,"d":[{"x":1.5,"y":-2},{"x":-0.25,"y":0},{"x":100,"y":65536}],"w":1024}"#,
        #" { "n" : 7 , "d" : [ {"x": 1.0, "y": 2.0} , {"x": 3.5, "y": 4.0} ] } "#,
        #"{"n":1,"note":"5 \" } 7","d":[{"x":1,"y":2,"id":"p\\\"9"},{"x":3,"y":4,"id":"p\\\"9"}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2,"q":{"deep":[1,2]}},{"x":3,"y":4,"q":{"deep":[3,4]}}]}"#,
        #"{"n":9007199254740991,"t":-123,"d":[{"x":0.1,"y":0.05}]}"#,
    ])
    mutating func `a message comes back byte for byte, whatever its spacing and its keys`(text: String) throws {
        let message = try packed(text, &templates)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        #"{"n":1,"d":[{"x":1e1,"y":2}]}"#,
        #"{"n":1,"d":[{"x":-0,"y":2}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2},{"y":2,"x":1}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2,"f":0.5},{"x":1,"y":2}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2},{"x":1,"y":2} ,{"x":1,"y":2}]}"#,
        #"{"n":1,"d":[{"x":0.12345678901234567,"y":2}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2},{"x":1.50,"y":2}]}"#,
    ])
    mutating func `a form that packing would change is kept as it came`(text: String) throws {
        let message = try packed(text, &templates)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
        #expect(message.byteCount == text.utf8.count)
    }

    @Test func `random numbers come back byte for byte`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var templates = TemplateTable()
        for _ in 0..<500 {
            let decimals = Int.random(in: 0...4, using: &random)
            let scale = Int64((0..<decimals).reduce(1) { power, _ in power * 10 })
            let points = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                let x = Double(Int64.random(in: -60_000 * scale...60_000 * scale, using: &random)) / Double(scale)
                return #"{"x":\#(x),"y":\#(Int.random(in: -9...9, using: &random))}"#
            }
            let text =
                #"{"n":\#(UInt32.random(in: 0 ... .max, using: &random)),"d":[\#(points.joined(separator: ","))]}"#
            #expect(try String(decoding: packed(text, &templates).bytes, as: UTF8.self) == text)
        }
    }

    @Test func `a point with very many numbers before very many points is kept as it came`() throws {
        let odd = #"{"x":1,"y":2,"q":[\#(numbers(125_000))]}"#
        let plain = String(repeating: #",{"x":1,"y":2}"#, count: 99_999)
        let text = #"{"n":1,"d":[\#(odd)\#(plain)]}"#
        let header = try StrokeMessage(decoding: Array(text.utf8), limits: .unlimited)
        var templates = TemplateTable()
        let message = PackedMessage(Array(text.utf8), points: header.points, templates: &templates)
        #expect(message.template == nil)
        #expect(templates.count == 0)
        #expect(Array(text.utf8) == message.bytes)
    }

    @Test
    mutating func `many points that have an earlier stroke's template only in part are kept as they came`() throws {
        let point = #"{"x":1,"y":2,"q":[\#(numbers(100))]}"#
        let first = try packed(
            #"{"n":1,"d":[\#([String](repeating: point, count: 10).joined(separator: ","))]}"#, &templates)
        #expect(first.template != nil)
        let text = #"{"n":2,"d":[\#(point)\#(String(repeating: #",{"x":1,"y":2}"#, count: 17_000))]}"#
        let second = try packed(text, &templates)
        #expect(second.template == nil)
        #expect(String(decoding: second.bytes, as: UTF8.self) == text)
    }

    @Test func `numbers that would take more room packed are kept as they came`() throws {
        // Every other point far off: each difference is longer than the number.
        let points = (0..<50).map { #"{"x":\#($0 % 2 == 0 ? -65536 : 65536),"y":1}"# }
        let text = #"{"n":1,"d":[\#(points.joined(separator: ","))]}"#
        var templates = TemplateTable()
        let message = try packed(text, &templates)
        #expect(message.byteCount <= text.utf8.count)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
    }

    @Test mutating func `after any number of odd messages those that follow are packed`() throws {
        for number in 0..<2000 {
            let filler = String(repeating: "a", count: number)
            let text = odd("k\(filler)")
            #expect(try String(decoding: packed(text, &templates).bytes, as: UTF8.self) == text)
            #expect(templates.byteCount <= TemplateTable.bound)
        }
        #expect(try packed(odd("plain"), &templates).template != nil)
    }

    @Test mutating func `authors who take turns share the table`() throws {
        var isPacked: [Bool] = []
        for _ in 1...3 {
            for author in 0..<24 { isPacked.append(try packed(odd("key\(author)"), &templates).template != nil) }
        }
        #expect(!isPacked.suffix(24).contains(false))
    }

    @Test func `templates take no more memory than the messages that came`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var templates = TemplateTable()
        var kept: [PackedMessage] = []
        var sent = 0
        for _ in 0..<3000 {
            let key = String(repeating: "k", count: random.int(1...random.pick([3, 60, 3000])))
            let text = odd(key, points: random.int(1...30), more: numbers(random.int(0...9)))
            kept.append(try packed(text, &templates))
            sent += text.utf8.count
        }
        var distinct: [ObjectIdentifier: TemplateTable.Entry] = [:]
        for entry in kept.compactMap(\.template) { distinct[ObjectIdentifier(entry)] = entry }
        let shared = distinct.values.reduce(0) { $0 + $1.template.byteCount }
        #expect(shared <= sent, "seed \(random.seed)")
        #expect(kept.reduce(0) { $0 + $1.byteCount } <= sent, "seed \(random.seed)")
        #expect(distinct.count > 100, "seed \(random.seed)")
    }

    @Test mutating func `a stroke of few points shares the template of those before it`() throws {
        let long = try packed(odd("key"), &templates)
        let text = odd("key", points: 3)
        let short = try packed(text, &templates)
        #expect(text.utf8.count < short.template?.template.byteCount ?? 0, "it would have made no template")
        #expect(short.template === long.template)
        #expect(short.byteCount < text.utf8.count / 4)
        #expect(String(decoding: short.bytes, as: UTF8.self) == text)
    }

    @Test mutating func `dots share a template`() throws {
        var entries: [ObjectIdentifier?] = []
        for number in 1...8 {
            let text = #"{"n":\#(number),"t":1\#(number),"d":[{"x":\#(number),"y":2}]}"#
            let message = try packed(text, &templates)
            #expect(String(decoding: message.bytes, as: UTF8.self) == text)
            #expect(message.byteCount < text.utf8.count / 2)
            entries.append(message.template.map(ObjectIdentifier.init))
        }
        #expect(Set(entries).count == 1 && entries[0] != nil)
    }

    @Test func `a small stroke keeps no template of much more text than it has`() throws {
        // A message of one point has no text between points.
        let gap = String(repeating: " ", count: 1500)
        var templates = TemplateTable()
        let first = try packed(#"{"n":1,"d":[{"x":1,"y":2},\#(gap){"x":3,"y":4},\#(gap){"x":5,"y":6}]}"#, &templates)
        #expect(first.template != nil)
        let text = #"{"n":2,"d":[{"x":1,"y":2}]}"#
        let second = try packed(text, &templates)
        #expect(second.template !== first.template)
        #expect(String(decoding: second.bytes, as: UTF8.self) == text)
    }

    @Test func `the size of a message is known without unpacking it`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var templates = TemplateTable()
        var packedCount = 0
        for _ in 0..<300 {
            let scale = random.pick([1.0, 10, 1000, 1e6])
            let points = (0..<random.int(1...40)).map { _ in
                let x = (Double(random.int(-60_000_000...60_000_000)) / 1000 * scale).rounded() / scale
                return #"{"x":\#(x),"y":\#(random.int(-9...9)),"q":-\#(random.int(1...99)).5}"#
            }
            let text = #"{"n":\#(random.int(0...1 << 40)),"l":0.5,"d":[\#(points.joined(separator: ","))],"w":1024}"#
            let message = try packed(text, &templates)
            #expect(message.messageByteCount == text.utf8.count, "seed \(random.seed)")
            guard let entry = message.template else { continue }
            let measured = try #require(MessageUnpacker.measure(message.ownBytes, template: entry.template))
            #expect(measured.byteCount == text.utf8.count, "seed \(random.seed)")
            #expect(measured.pointCount == points.count, "seed \(random.seed)")
            packedCount += 1
        }
        #expect(packedCount > 100, "seed \(random.seed)")
    }

    private func odd(_ key: String, points: Int = 20, more: String = "1") -> String {
        let list = (0..<points).map { #"{"x":\#($0),"y":2}"# }.joined(separator: ",")
        return #"{"n":1,"\#(key)":[\#(more)],"d":[\#(list)]}"#
    }

    private func numbers(_ count: Int) -> String { [String](repeating: "1", count: count).joined(separator: ",") }
}

extension WireLimits {
    fileprivate static let unlimited = WireLimits(messageBytes: .max, points: .max)
}
