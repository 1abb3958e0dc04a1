import CoreTrial
import StrokeWire
import Testing
import Whiteboard

@testable import ClientCore

@Suite struct `Strokes being drawn, whose operations are there` {
    /// Has the operation of a stroke with so many points.
    private func complete(_ ink: inout WetInk, _ number: Int64, points count: Int) throws {
        let points = Array(repeating: "{\"x\":1,\"y\":1}", count: count).joined(separator: ",")
        let event = GatewayEvent.operation(UInt64(number + 1), "{\"n\":\(number),\"t\":0,\"d\":[\(points)]}")
        let operation = try ReleasedOperation(decoding: event)
        ink.complete(operation, number: number, pointCount: try operation.header().points.count, at: .zero)
    }

    @Test func `one with more than 100,000 points appears with its operation`() throws {
        var ink = WetInk()
        try complete(&ink, 0, points: WetInk.mostPointsOfOne + 1)
        #expect(ink.isEmpty)
        try complete(&ink, 1, points: WetInk.mostPointsOfOne)
        #expect(ink.strokes.map { $0.growing.count } == [WetInk.mostPointsOfOne])
    }

    @Test func `all of them have 400,000 points at most, and room again when one is shown`() throws {
        var ink = WetInk()
        for number in 0..<6 as Range<Int64> { try complete(&ink, number, points: 90_000) }
        #expect(ink.strokes.count == WetInk.mostPoints / 90_000)
        _ = ink.settle(try #require(AuthorID("ann")), 0, at: .zero)
        try complete(&ink, 4, points: 90_000)
        #expect(ink.strokes.map { $0.number } == [1, 2, 3, 4])
    }
}
