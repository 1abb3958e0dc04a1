import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `The protocol's article of rejections` {
    @Test func `has each code, and its sentence as authors get it`() throws {
        let article = try ProtocolVectors.article("Rejections")
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.dropFirst(2).dropLast(2) }
        let cells = rows.map { $0.split(separator: " | ").map(String.init) }
        let rejections = try RejectionCode.allCases.map { try Rejection.example(of: $0) }
        let codes = rejections.map { "`\($0.code.rawValue)`" }
        #expect(cells.filter { $0.count == 3 }.map { $0[0] } == codes)
        #expect(cells.filter { $0.count == 2 } == zip(codes, rejections).map { [$0, $1.message] })
        #expect(rejections.map(\.code) == RejectionCode.allCases)
        var example: [UInt8] = []
        example.append(rejection: try .example(of: .outOfRange))
        #expect(article.contains(String(decoding: example, as: UTF8.self)))
    }
}

extension Rejection {
    /// A code that the protocol has and this table has not does not compile.
    fileprivate static func example(of code: RejectionCode) throws -> Rejection {
        switch code {
        case .notJSON: try rejection(#"{"n":1"#)
        case .missingField: try rejection(#"{"n":1}"#)
        case .wrongType: try rejection(#"{"n":"1"}"#)
        case .outOfRange: try rejection(draw(1, x: 65_534, points: 4))
        case .unknownElement: try rejection(#"{"n":1,"e":99}"#)
        case .unknownAction: try rejection(#"{"n":1,"a":99}"#)
        case .tooLarge: try rejection(String(repeating: " ", count: 262_145))
        case .tooManyPoints: try rejection(draw(1, points: 100_001), WireLimits(messageBytes: .max))
        case .tooManyShards: try rejection(shard(1, 0, of: 1025))
        case .tooManyPending: .bytesPending
        case .shardConflict: .shardsExist(field: "s")
        case .tooLate: .tooLate
        case .nothingToUndo: .nothingToUndo
        case .nothingToRedo: .nothingToRedo
        case .nothingToRemove: .nothingToRemove
        case .roomFull: .roomFull
        case .rateLimited: .rateLimited
        case .sessionOver: .sessionOver
        case .muted: .muted
        case .misaddressed:
            .misaddressed(to: RoomAddress(root: "ink", partition: 3, room: try #require(RoomID("physics"))))
        }
    }

    /// What a message is rejected for.
    private static func rejection(_ message: String, _ limits: WireLimits = WireLimits()) throws -> Rejection {
        try #require(throws: MalformedMessage.self) {
            try StrokeMessage(decoding: Array(message.utf8), limits: limits)
        }.rejection
    }
}
