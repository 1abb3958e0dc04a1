/// What an operation does; `a` on the wire, where 0 means draw too.
public enum Action: UInt8, Sendable, CaseIterable {
    case draw = 1
    case undo
    case redo
    case clear
}
