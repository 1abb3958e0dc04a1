import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct PackedMessageTests {
    /// Packs a message and gives back what comes out of it.
    private func packed(_ text: String, _ shapes: inout ShapeTable) throws -> PackedMessage {
        let bytes = Array(text.utf8)
        let header = try StrokeMessage(decoding: bytes, limits: WireLimits())
        return PackedMessage(bytes, points: header.points, shapes: &shapes)
    }

    @Test(arguments: [
        #"{"n":1,"d":[{"x":1,"y":2}]}"#,
        #"{"n":1,"c":0,"l":2.5,"d":[{"x":1.5,"y":-2},{"x":-0.25,"y":0},{"x":100,"y":65536}],"w":1024}"#,
        #" { "n" : 7 , "d" : [ {"x": 1.0, "y": 2.0} , {"x": 3.5, "y": 4.0} ] } "#,
        #"{"n":1,"note":"5 \" } 7","d":[{"x":1,"y":2,"id":"p\\\"9"},{"x":3,"y":4,"id":"p\\\"9"}]}"#,
        #"{"n":1,"d":[{"x":1,"y":2,"q":{"deep":[1,2]}},{"x":3,"y":4,"q":{"deep":[3,4]}}]}"#,
        #"{"n":9007199254740991,"t":-123,"d":[{"x":0.1,"y":0.05}]}"#,
    ])
    func `a message comes back byte for byte, whatever its spacing and its keys`(text: String) throws {
        var shapes = ShapeTable()
        let message = try packed(text, &shapes)
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
    func `a form that packing would change is kept as it came`(text: String) throws {
        var shapes = ShapeTable()
        let message = try packed(text, &shapes)
        #expect(String(decoding: message.bytes, as: UTF8.self) == text)
        #expect(message.byteCount == text.utf8.count)
    }

    @Test func `random numbers come back byte for byte`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var shapes = ShapeTable()
        for _ in 0..<500 {
            let decimals = Int.random(in: 0...4, using: &random)
            let scale = Int64((0..<decimals).reduce(1) { power, _ in power * 10 })
            let points = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                let x = Double(Int64.random(in: -60_000 * scale...60_000 * scale, using: &random)) / Double(scale)
                return #"{"x":\#(x),"y":\#(Int.random(in: -9...9, using: &random))}"#
            }
            let text =
                #"{"n":\#(UInt32.random(in: 0 ... .max, using: &random)),"d":[\#(points.joined(separator: ","))]}"#
            #expect(try String(decoding: packed(text, &shapes).bytes, as: UTF8.self) == text)
        }
    }

    @Test func `shapes beyond the bound are kept as they came`() throws {
        var shapes = ShapeTable()
        for number in 0..<2 * ShapeTable.bound {
            let text = #"{"n":1,"k\#(String(repeating: "a", count: number))":0,"d":[{"x":1,"y":2}]}"#
            let message = try packed(text, &shapes)
            #expect(String(decoding: message.bytes, as: UTF8.self) == text)
            #expect((message.byteCount == text.utf8.count) == (number >= ShapeTable.bound))
        }
    }
}
