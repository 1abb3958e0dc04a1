internal import StrokeWire

/// The display names of authors: the key `by` of their messages, which is no part of the protocol.
struct AuthorNames: Sendable {
    private static let mostNames = 1000
    /// More of a name is not shown by anybody.
    private static let mostScalars = 256

    private var names: [AuthorID: String] = [:]

    /// Notes the name in a message, where there is one.
    mutating func note(_ author: AuthorID, _ message: ArraySlice<UInt8>, _ actions: inout [PlayoutAction]) {
        guard let name = Self.read(message), names[author] != name else { return }
        // They come again with the next messages.
        if names.count == Self.mostNames { names = [:] }
        names[author] = name
        actions.append(.named(author, name))
    }

    /// Notes the names of a board: the newest message of each author says it.
    mutating func note(_ reply: JoinReply, _ actions: inout [PlayoutAction]) {
        guard case .board(_, _, let visible, let redo, let cleared) = reply.content else { return }
        var seen: Set<AuthorID> = []
        for operation in (visible + redo + cleared.flatMap { $0.visible }).reversed()
        where !seen.contains(operation.author) {
            guard Self.read(operation.message) != nil else { continue }
            seen.insert(operation.author)
            note(operation.author, operation.message, &actions)
        }
    }

    /// The text as it was sent, at most 256 scalars of it; nil where the message has none.
    private static func read(_ message: ArraySlice<UInt8>) -> String? {
        // Most messages have none: they are not parsed.
        guard contains(message), let text = JSONField.string("by", in: Array(message)), !text.isEmpty else {
            return nil
        }
        var name = String.UnicodeScalarView()
        name.append(contentsOf: text.unicodeScalars.prefix(mostScalars))
        return String(name)
    }

    private static func contains(_ message: ArraySlice<UInt8>) -> Bool {
        message.withUnsafeBufferPointer { bytes in
            guard bytes.count >= 4 else { return false }
            for place in 0...(bytes.count - 4)
            where bytes[place] == UInt8(ascii: "\"") && bytes[place + 1] == UInt8(ascii: "b")
                && bytes[place + 2] == UInt8(ascii: "y") && bytes[place + 3] == UInt8(ascii: "\"")
            {
                return true
            }
            return false
        }
    }
}
