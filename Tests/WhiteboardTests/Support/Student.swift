import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// A student's copy of the board, made from nothing but a catch-up and the releases after it.
struct Student {
    private(set) var index: UInt64
    private(set) var visible: [UInt64]
    /// Messages of all strokes that the student has heard of.
    private(set) var ink: [UInt64: [UInt8]]
    private var took: [UInt64: [UInt64]]
    private let clearsAreFinal: Bool

    /// One who was there from the start.
    init(_ rules: HistoryConfiguration) {
        index = 0
        visible = []
        ink = [:]
        took = [:]
        clearsAreFinal = rules.clear == .final
    }

    /// One who joins with the board.
    init(_ rules: HistoryConfiguration, board: Board) {
        self.init(rules)
        index = board.index
        var strokes = board.visible.map(\.stroke)
        visible = strokes.map(\.index)
        for case .stroke(let stroke) in board.undone { strokes.append(stroke) }
        for (clear, removed) in board.undoableClears {
            took[clear.index] = removed.map(\.stroke.index)
            strokes += removed.map(\.stroke)
        }
        for case .clear(let clear) in board.undone { took[clear.index] = [] }
        for stroke in strokes { ink[stroke.index] = stroke.message.bytes }
    }

    var digest: UInt64 { plainDigest(visible) }

    /// Takes the next operation; repeats are dropped.
    mutating func take(_ operation: Whiteboard.Operation) {
        guard operation.index > index else { return }
        #expect(operation.index == index + 1, "a student missed an operation")
        index = operation.index
        switch operation.action {
        case .draw:
            ink[index] = operation.restoredMessage
            visible.append(index)
        case .clear:
            if !clearsAreFinal { took[index] = visible }
            visible = []
        case .undo: undo(operation.reference ?? 0)
        case .redo: redo(operation.reference ?? 0)
        }
    }

    private mutating func undo(_ reference: UInt64) {
        if let strokes = took[reference] {
            visible = (visible + strokes).sorted()
        } else {
            #expect(visible.contains(reference), "a stroke that is not seen is taken back")
            visible.removeAll { $0 == reference }
        }
    }

    private mutating func redo(_ reference: UInt64) {
        if took[reference] != nil {
            took[reference] = visible
            visible = []
        } else {
            #expect(ink[reference] != nil, "a stroke that the student never had comes back")
            visible = (visible + [reference]).sorted()
        }
    }
}
