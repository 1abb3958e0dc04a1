import InkML
import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

/// Boards as InkML.
@Suite(.timeLimit(.minutes(5))) struct BoardInkTests {
    private static func ink(
        _ client: NATSConnection, _ subject: String, _ request: ImageRequest = ImageRequest(format: .inkml)
    ) async throws -> InkDocument {
        try InkDocument(inkML: try await client.answer(request.encoded(), from: subject))
    }

    @Test func `a board's ink has what was released, of all pages, in the board's units`() async throws {
        try await RunningService.withRoom("ink") { service, address, _ in
            let hand = try Hand(service.client, address, "ann")
            try service.client.setClock(address, 1000)
            let pen = #"{"x":1.5,"y":2,"f":0.25,"i":1.25,"z":-0.5,"m":0},{"x":3,"y":4,"f":0.5,"i":1.5,"z":0,"m":8.25}"#
            try hand.publish(#"{"n":1,"c":1,"l":3,"t":10,"w":800,"h":600,"d":[\#(pen)]}"#)
            try hand.publish(
                #"{"n":2,"g":3,"c":2,"l":2,"e":2,"t":20,"w":400,"h":300,"d":[{"x":10,"y":20},{"x":50,"y":60}]}"#)
            try hand.publish(#"{"n":3,"e":4,"l":20,"t":5000,"w":800,"h":600,"d":[{"x":7,"y":7}]}"#)
            let (main, head) = (address.subject(.image(.main)), address.subject(.imageHead))
            let all = try await eventually("the head has three strokes") {
                let ink = try? await Self.ink(service.client, head)
                return ink?.strokes.count == 3 ? ink : nil
            }
            let first = InkDocument.Stroke(
                index: 1, author: "ann", colour: 0xd92020, width: 3, time: 10,
                points: [
                    StrokePoint(x: 1.5, y: 2, force: 0.25, altitude: 1.25, azimuth: -0.5, milliseconds: 0),
                    StrokePoint(x: 3, y: 4, force: 0.5, altitude: 1.5, azimuth: 0, milliseconds: 8.25),
                ])
            let second = InkDocument.Stroke(
                index: 2, author: "ann", element: .ellipse, colour: 0x1f4fd8, width: 4, time: 20,
                points: [StrokePoint(x: 20, y: 40), StrokePoint(x: 100, y: 120)])
            let eraser = InkDocument.Stroke(
                index: 3, author: "ann", element: .eraser, width: 20, time: 5000, points: [StrokePoint(x: 7, y: 7)])
            let size = InkDocument.Size(width: 800, height: 600)
            #expect(
                all
                    == InkDocument(
                        size: size,
                        pages: [.init(number: 0, strokes: [first, eraser]), .init(number: 3, strokes: [second])]))
            let released = try await eventually("two strokes are released") {
                let ink = try? await Self.ink(service.client, main)
                return ink?.strokes.count == 2 ? ink : nil
            }
            #expect(released.pages == [.init(number: 0, strokes: [first]), .init(number: 3, strokes: [second])])
            let page = try await Self.ink(service.client, main, ImageRequest(format: .inkml, page: 3))
            #expect(page == InkDocument(size: size, pages: [.init(number: 3, strokes: [second])]))
            let past = try await Self.ink(service.client, head, ImageRequest(format: .inkml, index: 1))
            #expect(past == InkDocument(size: size, pages: [.init(number: 0, strokes: [first])]))
        }
    }
}
