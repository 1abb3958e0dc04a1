internal import NATSClient
public import StrokeWire

/// A change of a room's order of pages, which others may change at the same time. State machine: says which order to publish
/// next, and learns from the log what was written meanwhile.
///
/// An arrange names all pages in sight, so that one that was decided on an older state hides pages made since, and a number
/// that was free may have been taken. Both show in the log between the state and the arrange; then another arrange follows.
struct PageArrangement: Sendable {
    enum Goal: Sendable, Equatable {
        /// So many pages that have never been, at the end of the order.
        case add(Int)
        /// These pages out of sight.
        case hide(Set<Int>)
    }

    private let goal: Goal
    /// The pages as they are at ``index``.
    private(set) var state: BoardPages
    /// The pages as they would be there, had this change only done what it is for.
    private var wanted: BoardPages
    /// Position in the log.
    private(set) var index: UInt64
    /// Of ``Goal/add(_:)``: numbers chosen, in order.
    private(set) var added: [Int] = []
    /// Those of them that the log has given to this change.
    private var owned: Set<Int> = []
    /// A page that was shown until an arrange hid it by mistake: it has to be shown again.
    var pageToShow: Int? { state.shown == wanted.shown ? nil : wanted.shown }

    init(_ goal: Goal, state: BoardPages, index: UInt64) {
        (self.goal, self.state) = (goal, state)
        wanted = state
        self.index = index
    }

    /// Chooses the order to publish; it is that of ``state`` where nothing is to be done.
    /// - Returns: nil where there are not enough numbers of pages, or no page would be left.
    mutating func nextOrder() -> [Int]? {
        switch goal {
        case .add(let count):
            var known = Set(wanted.order).union(wanted.hidden).union(added)
            for number in PageNumber.range where added.count < count {
                if known.insert(number).inserted { added.append(number) }
            }
            guard added.count == count else { return nil }
        case .hide:
            break
        }
        let order = order(of: wanted)
        return order.isEmpty ? nil : order
    }

    private func order(of pages: BoardPages) -> [Int] {
        switch goal {
        case .add:
            let mine = Set(added)
            return pages.order.filter { !mine.contains($0) } + added
        case .hide(let hidden):
            return pages.order.filter { !hidden.contains($0) }
        }
    }

    /// An order was published and applied.
    /// - Parameters:
    ///   - order: what ``nextOrder()`` gave.
    ///   - position: its index.
    ///   - operations: those of the log after ``index``, at least to `position`.
    /// - Returns: whether the order is as it has to be; if not, ask for the next one.
    mutating func applied(_ order: [Int], at position: UInt64, among operations: [ReleasedOperation]) -> Bool {
        for operation in operations where operation.index < position { apply(operation) }
        let taken = Set(wanted.order + wanted.hidden).intersection(added).subtracting(owned)
        added.removeAll { taken.contains($0) }
        owned = Set(added)
        state.arrange(order)
        wanted.arrange(self.order(of: wanted))
        for operation in operations where operation.index > position { apply(operation) }
        index = max(position, operations.last?.index ?? position)
        return taken.isEmpty && state.order == self.order(of: wanted)
    }

    private mutating func apply(_ operation: ReleasedOperation) {
        state.apply(operation)
        wanted.apply(operation)
    }
}

extension BoardPages {
    /// Takes over what an operation does to the pages.
    fileprivate mutating func apply(_ operation: ReleasedOperation) {
        switch operation.action {
        case .draw: if !operation.isPointer { add(operation.page) }
        case .turn: turn(to: operation.page)
        case .arrange: if let order = operation.order { arrange(order) }
        case .paper: add(operation.page)
        case .undo, .redo, .clear, .remove: break
        }
    }
}

/// Why pages were not made, copied or moved.
public enum PageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The service does not offer these features.
    case unsupported(BoardFeatures)
    /// The room would have more pages than there are numbers.
    case tooManyPages
    /// The room has no such page.
    case unknownPage
    /// The only page in sight cannot go.
    case lastPage
    /// The room was written to faster than its pages could be arranged.
    case conflict
    /// The state of the room cannot be had.
    case room(RoomDirectoryError)
    /// Not everything was written: which pages were made, and why not all.
    case incomplete(pages: [Int], String)

    public var description: String {
        switch self {
        case .unsupported(let features):
            "The service does not offer \(features.names.joined(separator: ", ")); see board.features."
        case .tooManyPages: "A room has at most \(PageNumber.range.count) pages, those out of sight too."
        case .unknownPage: "The room has no such page."
        case .lastPage: "The only page of a room stays; copy it, or add another one first."
        case .conflict: "Others change the room's pages at the same time; try again."
        case .room(let error): "\(error)"
        case .incomplete(let pages, let why):
            pages.isEmpty
                ? "No page was made: \(why)."
                : "Only the pages \(pages.map(String.init).joined(separator: ", ")) were made: \(why)."
        }
    }
}

extension OperationWriter {
    /// How often an order is published again because others have changed it meanwhile.
    private static let attempts = 8

    /// Adds pages that nobody else has, at the end of the order; they are empty then.
    ///
    /// - Parameters:
    ///   - count: how many, at least 1.
    ///   - time: of the operations; nil for none.
    /// - Returns: their numbers.
    public mutating func addPages(_ count: Int, at time: Int64?) async throws(PageError) -> [Int] {
        try await arrange(.add(count), at: time)
    }

    /// Puts pages out of sight.
    /// - Parameter time: of the operation; nil for none.
    public mutating func hidePages(_ pages: Set<Int>, at time: Int64?) async throws(PageError) {
        _ = try await arrange(.hide(pages), at: time)
    }

    private mutating func arrange(_ goal: PageArrangement.Goal, at time: Int64?) async throws(PageError) -> [Int] {
        let settings = try await settings()
        guard settings.features.contains(.pages) else { throw .unsupported(.pages) }
        var change = PageArrangement(goal, state: settings.pages, index: settings.index)
        for _ in 0..<Self.attempts {
            guard let order = change.nextOrder() else {
                if case .hide = goal { throw .lastPage } else { throw .tooManyPages }
            }
            if order == change.state.order { return change.added }
            let header = StrokeMessage(number: 0, action: .arrange, time: time, content: .order(order))
            let outcome = await write([Operation(header)])
            guard let index = outcome.indices[0] else {
                throw .incomplete(pages: [], outcome.failure ?? "the service does not answer")
            }
            // Without operations in between the log need not be read.
            let isNext = index == change.index + 1
            let operations = isNext ? [] : try await operations(after: change.index, through: index, of: settings.room)
            let isRight = change.applied(order, at: index, among: operations)
            if let page = change.pageToShow {
                _ = await write([Operation(StrokeMessage(number: 0, action: .turn, time: time, page: page))])
            }
            if isRight { return change.added }
        }
        throw .conflict
    }

    /// The operations of the log after a position, at least to another one.
    private func operations(
        after start: UInt64, through end: UInt64, of room: String
    ) async throws(PageError) -> [ReleasedOperation] {
        let reply: JoinReply
        do throws(RoomDirectoryError) {
            var room = room
            if room.isEmpty {
                // Nobody had written to it: now it has an incarnation.
                room = try await BoardSettings(of: address, over: connection).room
            }
            let request = JoinRequest(incarnation: room, have: start)
            reply = try await JoinReply(of: address, request, over: connection)
        } catch {
            throw .room(error)
        }
        guard case .tail(let operations) = reply.content, reply.index >= end else { throw .conflict }
        do throws(MalformedRelease) {
            return try operations.map { operation throws(MalformedRelease) in try ReleasedOperation(operation) }
        } catch {
            throw .room(.malformed)
        }
    }

    /// The time that operations without one get: see ``RoomTime/stamp``.
    public func time() async throws(PageError) -> RoomTime {
        do throws(RoomDirectoryError) {
            return try await RoomDirectory(connection: connection, root: "").time(of: address)
        } catch {
            throw .room(error)
        }
    }

    /// The state of the room at the end of its log.
    public func settings() async throws(PageError) -> BoardSettings {
        do throws(RoomDirectoryError) {
            return try await BoardSettings(of: address, over: connection)
        } catch {
            throw .room(error)
        }
    }
}
