import Foundation

/// A message of an author as the protocol's page describes it, read with Foundation alone: nothing of the product's
/// own reading is used to judge the product.
struct ModelMessage: Sendable {
    struct Point: Sendable, Equatable, Decodable {
        let x: Double
        let y: Double
    }

    enum Action: Int, Sendable {
        case draw = 1
        case undo, redo, clear
    }

    let number: Int64
    let shardCount: Int
    let shardOrder: Int
    let element: Int
    let action: Action
    /// Media time in milliseconds.
    let time: Double
    let points: [Point]
    let bytes: [UInt8]
    /// Whether the service takes it. The only fault that tests send is an element that there is not.
    let isAcceptable: Bool

    var isSharded: Bool { shardCount > 1 && action == .draw }

    private struct Wire: Decodable {
        let n: Int64
        let s: Int?
        let o: Int?
        let e: Int?
        let a: Int?
        let t: Double
        let d: [Point]?
    }

    init(_ bytes: [UInt8]) throws {
        let wire = try JSONDecoder().decode(Wire.self, from: Data(bytes))
        number = wire.n
        shardCount = wire.s ?? 0
        shardOrder = wire.o ?? 0
        element = wire.e ?? 0
        action = Action(rawValue: wire.a ?? 1) ?? .draw
        time = wire.t
        points = wire.d ?? []
        self.bytes = bytes
        isAcceptable = (0...4).contains(element)
    }
}
