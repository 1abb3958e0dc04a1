import DequeModule
import StrokeWire

/// The accepted operations of a room that are still needed: those that some cohort holds, and a tail of released ones
/// for students who join again.
struct OperationLog: Sendable {
    /// The operations that every cohort has released: the oldest of the log.
    private var released: Deque<ReleasedOperation> = []
    /// The operations that some cohort holds.
    private var held: Deque<Operation> = []
    /// Index of the first operation kept.
    private(set) var firstIndex: UInt64 = 1
    /// Bytes of the operations that some cohort holds.
    private(set) var heldBytes = 0
    /// Bytes of the operations that every cohort has released.
    private(set) var releasedBytes = 0

    /// Index of the last operation, 0 for an empty log.
    var lastIndex: UInt64 { firstIndex + UInt64(count) - 1 }
    var count: Int { released.count + held.count }

    init(after index: UInt64 = 0) { firstIndex = index + 1 }

    subscript(index: UInt64) -> Operation {
        let position = Int(index - firstIndex)
        return position < released.count
            ? released[position].operation(at: index) : held[position - released.count]
    }

    /// Bytes of the message of an operation that is kept.
    func messageByteCount(of index: UInt64) -> Int {
        let position = Int(index - firstIndex)
        return position < released.count
            ? released[position].messageByteCount : held[position - released.count].messageByteCount
    }

    /// All operations kept, in order.
    var kept: some Collection<Operation> { (firstIndex..<firstIndex + UInt64(count)).lazy.map { self[$0] } }

    /// - Precondition: `operation.index == lastIndex + 1`
    mutating func append(_ operation: Operation) {
        heldBytes += operation.heldByteCount
        held.append(operation)
    }

    /// The operations after `index`; nil where the log no longer has all of them.
    func tail(after index: UInt64, through last: UInt64) -> [Operation]? {
        guard index + 1 >= firstIndex else { return nil }
        guard last > index else { return [] }
        return (index + 1...last).map { self[$0] }
    }

    /// Packs the operations through `index`, which every cohort has released.
    mutating func pack(through index: UInt64) {
        while !held.isEmpty, firstIndex + UInt64(released.count) <= index {
            let operation = held.removeFirst()
            heldBytes -= operation.heldByteCount
            let packed = ReleasedOperation(operation)
            releasedBytes += packed.byteCount
            released.append(packed)
        }
    }

    /// The strokes of the operations kept.
    var strokes: [Stroke] { released.compactMap { $0.stroke } + held.compactMap { $0.stroke } }

    /// The papers of the operations kept.
    var papers: [Paper] {
        (released.lazy.map { $0.effect } + held.lazy.map { $0.effect }).compactMap {
            if case .paper(let paper, _) = $0 { paper } else { nil }
        }
    }

    /// Whether an operation kept is a removal.
    var hasRemovals: Bool { released.contains { $0.isRemoval } || held.contains { $0.action == .remove } }

    /// Whether one of the operations kept is a pointer.
    var hasPointers: Bool {
        released.contains { $0.stroke?.kind == .pointer } || held.contains { $0.isPointer }
    }

    /// Whether one of the operations kept is a text.
    var hasTexts: Bool { strokes.contains { $0.kind == .text } }

    /// Replaces the strokes by the same ones in other blocks.
    mutating func move(_ moves: StrokeMoves) {
        for position in released.indices { released[position].move(moves) }
        for position in held.indices {
            if let stroke = held[position].stroke { held[position] = held[position].with(.draw(moves[stroke])) }
        }
    }

    /// Removes the oldest operation.
    /// - Precondition: the log is not empty and its first operation is packed.
    /// - Returns: what it did to the board.
    mutating func popFirst() -> Operation.Effect {
        let operation = released.removeFirst()
        releasedBytes -= operation.byteCount
        firstIndex += 1
        return operation.effect
    }
}

/// An operation that every cohort has released: without its index, and without what its stroke has too.
private struct ReleasedOperation: Sendable {
    /// An operation that is no stroke.
    private final class Other: Sendable {
        let operation: Operation
        init(_ operation: Operation) { self.operation = operation }
    }

    private enum Content: Sendable {
        case stroke(Stroke)
        case joinedStroke(Stroke)
        case other(Other)
    }

    private var content: Content
    private let number: Int64
    /// `noTime` where the operation has none.
    private let time: Int64
    private let digest: BoardDigest

    private static let noTime = Int64.min

    init(_ operation: Operation) {
        content =
            switch operation.effect {
            case .draw(let stroke): operation.isJoined ? .joinedStroke(stroke) : .stroke(stroke)
            case .undo, .redo, .clear, .turn, .arrange, .paper, .remove: .other(Other(operation))
            }
        number = operation.number
        time = operation.time ?? Self.noTime
        digest = operation.digest
    }

    /// - Parameter index: its own.
    func operation(at index: UInt64) -> Operation {
        switch content {
        case .stroke(let stroke): drawn(stroke, at: index, isJoined: false)
        case .joinedStroke(let stroke): drawn(stroke, at: index, isJoined: true)
        case .other(let other): other.operation
        }
    }

    private func drawn(_ stroke: Stroke, at index: UInt64, isJoined: Bool) -> Operation {
        Operation(
            index: index, author: stroke.author, number: number, effect: .draw(stroke), isLate: stroke.isLate,
            time: time == Self.noTime ? nil : time, digest: digest, message: [], isJoined: isJoined)
    }

    var stroke: Stroke? {
        switch content {
        case .stroke(let stroke), .joinedStroke(let stroke): stroke
        case .other: nil
        }
    }

    var isRemoval: Bool {
        if case .other(let other) = content { other.operation.action == .remove } else { false }
    }

    /// Replaces its stroke by the same one in another block.
    mutating func move(_ moves: StrokeMoves) {
        switch content {
        case .stroke(let stroke): content = .stroke(moves[stroke])
        case .joinedStroke(let stroke): content = .joinedStroke(moves[stroke])
        case .other: break
        }
    }

    var effect: Operation.Effect {
        switch content {
        case .stroke(let stroke), .joinedStroke(let stroke): .draw(stroke)
        case .other(let other): other.operation.effect
        }
    }

    var messageByteCount: Int {
        switch content {
        case .stroke(let stroke), .joinedStroke(let stroke): stroke.messageByteCount
        case .other(let other): other.operation.messageByteCount
        }
    }

    /// Bytes that it takes, about.
    var byteCount: Int {
        switch content {
        case .stroke(let stroke), .joinedStroke(let stroke): stroke.byteCount + Operation.overhead
        case .other(let other): other.operation.message.count + Operation.overhead
        }
    }
}

extension Operation {
    /// Bytes of an operation without its message, about.
    fileprivate static var overhead: Int { 256 }

    /// Bytes that it keeps in memory alone in a list, about.
    var byteEstimate: Int {
        if case .draw(let stroke) = effect { return stroke.weight.points * Weight.bytesOfUnit + Self.overhead }
        return message.count + Self.overhead
    }

    fileprivate var stroke: Stroke? {
        if case .draw(let stroke) = effect { stroke } else { nil }
    }

    /// Bytes that it takes until it is packed.
    fileprivate var heldByteCount: Int {
        // Strokes from a checkpoint are packed already.
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.byteCount + Self.overhead }
        return message.count + Self.overhead
    }
}
