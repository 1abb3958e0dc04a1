import Assets
import StrokeWire
import TestSupport
import Testing

@testable import LecternClient

@Suite struct SlideImportTests {
    private func slides(_ sizes: [(Double, Double)]) throws -> SlideImport {
        let id = try #require(AssetID(hexadecimal: String(repeating: "5", count: 64)))
        let pages = sizes.compactMap { AssetPage(width: $0.0, height: $0.1) }
        let manifest = try #require(AssetManifest(id: id, format: .pdf, bytes: 9, pages: pages))
        return try #require(SlideImport(AssetUpload.Summary(manifest)))
    }

    @Test func `a page fills the board as far as its shape allows, in the middle`() throws {
        let slides = try slides([(100, 100), (400, 100), (10, 40), (1024, 768)])
        let corners = slides.pages.map { page in
            SlideImport.corners(of: page, width: 1024, height: 768).flatMap { [$0.x, $0.y] }
        }
        #expect(corners == [[128, 0, 896, 768], [0, 256, 1024, 512], [416, 0, 608, 768], [0, 0, 1024, 768]])
    }

    @Test func `sizes of pages are told where they differ, and an answer with other sizes is none`() throws {
        #expect(try slides([(4, 3), (4, 3)]).pages.map(\.height) == [3, 3])
        #expect(try slides([(4, 3), (3, 4)]).pages.map(\.height) == [3, 4])
        let id = String(repeating: "5", count: 64)
        let wrong = #"{"id":"\#(id)","type":"application/pdf","pages":2,"width":4,"height":3"#
        #expect(SlideImport(try AssetUpload.Summary(decoding: Array((wrong + #","sizes":[[1,1]]}"#).utf8))) == nil)
        #expect(SlideImport(try AssetUpload.Summary(decoding: Array((wrong + #","sizes":[[1,1],[2]]}"#).utf8))) == nil)
        #expect(SlideImport(try AssetUpload.Summary(decoding: Array((wrong + "}").utf8)))?.pages.count == 2)
        #expect(throws: AssetUploadError.malformed) { try AssetUpload.Summary(decoding: Array("{}".utf8)) }
    }

    @Test func `five hundred pages stay below the limits of an author, in the order of the file`() throws {
        let operations = try slides(Array(repeating: (4, 3), count: 500))
            .operations(onto: Array(1...500), width: 1024, height: 768, at: 70)
        var number: Int64 = 0
        let messages = operations.flatMap { operation in
            number += 1
            var header = operation.header
            header.number = number
            return header.messages(interior: operation.interior)
        }
        #expect(messages.count == 501)
        var room = VirtualClass(PublishPlan(immediately: messages), seed: 1)
        room.latency = 5...5
        #expect(room.run(within: .seconds(4)) == true)
        #expect(room.service.applied == Array(1...501))
        for (index, sending) in room.sendings.enumerated() {
            let second = room.sendings[index...].prefix { $0.time < sending.time + .seconds(1) }
            #expect(second.count <= 200)
            #expect(second.reduce(0) { $0 + $1.bytes.count } <= 1 << 20)
        }
    }
}
