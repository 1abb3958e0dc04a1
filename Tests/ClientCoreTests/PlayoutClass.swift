import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

func media(_ milliseconds: Int?) -> MediaTime? { milliseconds.map { MediaTime(milliseconds: Int64($0)) } }

func stroke(_ number: Int, time: Int? = nil, reach: [Int] = [0, 0]) -> String {
    let points = reach.map { "{\"x\":\($0),\"y\":1,\"m\":\($0)}" }.joined(separator: ",")
    return "{\"n\":\(number)\(time.map { ",\"t\":\($0)" } ?? ""),\"d\":[\(points)]}"
}

extension [PlayoutAction] {
    /// Indices of the operations that were applied.
    var applied: [UInt64] {
        compactMap { if case .applied(let operation, _, _) = $0 { operation.index } else { nil } }
    }

    var unveiled: [UInt64] {
        compactMap { if case .unveiled(let stroke) = $0 { stroke.index } else { nil } }
    }

    var restarts: Int { count { if case .restart = $0 { true } else { false } } }

    /// Points shown of strokes being drawn.
    var grown: [Int] { compactMap { if case .grew(_, _, let points) = $0 { points } else { nil } } }
}

/// A playout of an empty room, and the events of a class.
struct Class {
    var playout: BoardPlayout
    private(set) var index: UInt64 = 0

    init(followsPlayer: Bool = true, isHead: Bool = false, maximumHold: Duration = BoardPlayout.maximumHold) {
        playout = BoardPlayout(followsPlayer: followsPlayer, isHead: isHead, maximumHold: maximumHold)
        _ = playout.receive(.board, GatewayEvent.emptyBoard, player: nil, at: .zero)
    }

    @discardableResult
    mutating func send(
        _ message: String, by author: String = "ann", reference: UInt64? = nil, page: Int = 0, isLate: Bool = false,
        player: Int? = nil, now: Int = 0
    ) -> [PlayoutAction] {
        index += 1
        return playout.receive(
            .operation,
            GatewayEvent.operation(index, by: author, reference: reference, page: page, isLate: isLate, message),
            player: media(player), at: at(now))
    }

    mutating func wet(_ text: String, player: Int? = nil, now: Int = 0) -> [PlayoutAction] {
        playout.receive(.wet, Array(text.utf8), player: media(player), at: at(now))
    }

    mutating func look(_ player: Int?, now: Int) -> [PlayoutAction] { playout.look(media(player), at: at(now)) }

    mutating func grow(_ player: Int?, now: Int, page: Int = 0) -> [PlayoutAction] {
        playout.grow(media(player), on: page, at: at(now)).actions
    }
}
