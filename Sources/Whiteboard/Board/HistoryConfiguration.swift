/// How undo, redo and clear work in a room.
public struct HistoryConfiguration: Sendable, Equatable {
    /// Whose newest stroke an undo takes.
    public enum Scope: String, Sendable, CaseIterable {
        /// The newest stroke of the room.
        case room
        /// The newest stroke of the author who asks.
        case author
    }

    public enum Clear: String, Sendable, CaseIterable {
        /// A clear empties both stacks and cannot be undone.
        case final
        /// A clear goes onto the undo stack like a stroke.
        case undoable
    }

    public var scope: Scope
    /// At most so many entries on the undo stack of a room, 1 or more; older ones stay on the board for good.
    public var depth: Int
    public var clear: Clear

    public init(scope: Scope = .room, depth: Int = 100, clear: Clear = .final) {
        self.scope = scope
        self.depth = depth
        self.clear = clear
    }
}
