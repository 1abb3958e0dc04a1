import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Pages that are copied and moved, in a room and between rooms, in the built daemon with a journal.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct PageCopyTests {
    @Test
    func `a page is copied with erasers, images, lassos and long strokes, without what was undone`() async throws {
        try await BoardService.with(BoardService.boards) { service in
            let long = (0..<9000).map { #"{"x":\#($0 % 500),"y":\#($0 / 90),"f":0.5}"# }.joined(separator: ",")
            let asset = String(repeating: "ab", count: 32)
            let path = #"{"x":0,"y":0},{"x":60,"y":0},{"x":60,"y":60}"#
            try await service.write(
                [
                    #"{"n":1,"c":2,"l":3,"t":1,"w":500,"h":400,"d":[{"x":1,"y":1},{"x":9,"y":9}]}"#,
                    #"{"n":2,"c":1,"l":3,"t":1,"w":250,"h":200,"g":7,"d":[{"x":1,"y":1},{"x":9.25,"y":9}]}"#,
                    #"{"n":3,"e":4,"l":20,"t":1,"g":7,"d":[{"x":5,"y":5},{"x":6,"y":6}]}"#,
                    #"{"n":4,"e":5,"i":"\#(asset)","p":3,"t":1,"g":7,"d":[{"x":0,"y":0},{"x":60,"y":60}]}"#,
                    #"{"n":5,"e":6,"m":[1,0,0,1,10,20],"k":1,"t":1,"g":7,"d":[\#(path)]}"#,
                    #"{"n":6,"c":1,"l":3,"t":1,"g":7,"d":[{"x":77,"y":1}]}"#,
                    #"{"n":7,"a":2,"g":7}"#,
                    #"{"n":8,"c":3,"l":1,"t":1,"w":500,"h":400,"g":7,"d":[\#(long)]}"#,
                ], to: "r")
            let source = try await service.head("r").entries(on: 7)
            #expect(source.count == 5)

            let copied = try await service.copy(7, #"{"to":"s","t":900}"#)
            #expect(copied.text == #"{"page":1}"#)
            let target = try await service.head("s")
            // The board is as large as the other one, whatever the board of the first stroke's author was.
            guard case .board(500, 400, _, _, _) = target.reply.content else {
                throw Unexpected("another size: \(target.reply.content)")
            }
            #expect(target.reply.pages == BoardPages(shown: 0, order: [0, 1]))
            let copy = target.entries(on: 1)
            #expect(copy.map(\.message.element) == [.freehand, .eraser, .image, .lasso, .freehand])
            #expect(copy.map(\.message.content) == source.map(\.message.content))
            #expect(copy.map(\.message.colour) == source.map(\.message.colour))
            #expect(copy.map(\.message.time) == Array(repeating: 900, count: 5))
            // The first in the units of the board, the others as they were.
            #expect(copy[0].points == [StrokePoint(x: 2, y: 2), StrokePoint(x: 18.5, y: 18)])
            #expect(copy[0].message.width == 6)
            #expect(copy.dropFirst().map(\.points) == source.dropFirst().map(\.points))

            // The same picture.
            let pictures = try await [("r", 7), ("s", 1)].asyncMap { room, page in
                try await service.http.get("/api/rooms/\(room)/board.svg?cohort=head&page=\(page)").text
            }
            #expect(pictures[0] == pictures[1])

            // In the same room, and from a page that nobody has drawn on.
            #expect(try await service.copy(7, "").text == #"{"page":1}"#)
            #expect(try await service.copy(0, #"{"to":"s"}"#).text == #"{"page":2}"#)
            #expect(try await service.copy(0, #"{"to":"t"}"#).text == #"{"page":1}"#)
            #expect(try await service.head("r").entries(on: 1).count == 5)
        }
    }

    @Test func `a file is in the other room before a copied page shows it`() async throws {
        try await BoardService.with(BoardService.boards) { service in
            let brought = try await service.importFile(SlideFiles.pdf([(4, 3)]))
            #expect(try brought.pages == [1])
            guard case .string(let id)? = try AnyJSON.decode(brought.bytes)["id"] else { throw Unexpected("no name") }
            let order = Recorder<String>()
            for subject in ["ink.assets.\(id).in-room.*", "ink.0.s.in.*"] {
                try service.connection.subscribe(subject) { message in
                    let isImage = String(decoding: message.copyPayload(), as: UTF8.self).contains(id)
                    if message.subject.hasPrefix("ink.assets.") || isImage { order.append(message.subject) }
                }
            }
            try await service.connection.flush()
            #expect(try await service.copy(1, #"{"to":"s"}"#).text == #"{"page":1}"#)
            let subjects = try await order.values(2)
            #expect(subjects[0] == "ink.assets.\(id).in-room.s")
            #expect(subjects[1].hasPrefix("ink.0.s.in."))
        }
    }

    @Test func `a page that is moved goes out of sight when it is there, and the last one stays`() async throws {
        try await BoardService.with(BoardService.boards) { service in
            try await service.write(
                [
                    #"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#, #"{"n":2,"t":1,"g":1,"d":[{"x":2,"y":2}]}"#,
                    #"{"n":3,"a":5,"g":1,"t":1}"#,
                ], to: "r")
            #expect(try await service.copy(1, #"{"to":"s","move":true}"#).text == #"{"page":1}"#)
            #expect(try await service.head("s").entries(on: 1).map(\.points) == [[StrokePoint(x: 2, y: 2)]])
            #expect(try await service.head("r").reply.pages == BoardPages(shown: 0, order: [0], hidden: [1]))
            // Within a room, where the copy is another page.
            #expect(try await service.copy(0, #"{"move":true}"#).text == #"{"page":2}"#)
            #expect(try await service.head("r").reply.pages == BoardPages(shown: 2, order: [2], hidden: [0, 1]))
            let last = try await service.copy(2, #"{"to":"s","move":true}"#)
            #expect(last.statusCode == 409)
            #expect(try last.errorCode == .string("last-page"))
            #expect(try await service.head("s").reply.pages.order == [0, 1])
            for (page, body, status) in [
                (9, #"{"to":"s"}"#, 404), (1000, #"{"to":"s"}"#, 400), (0, #"{"to":"S!"}"#, 400), (0, "[]", 400),
                (0, #"{"t":"now"}"#, 400),
            ] {
                #expect(try await service.copy(page, body).statusCode == status, "\(page) \(body)")
            }
        }
    }
}
