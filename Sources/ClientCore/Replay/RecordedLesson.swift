import StrokeWire
import Whiteboard

/// A recorded lesson, as far as it was fetched: operations with their times, and boards to go on from.
///
/// It is in parts, each a board and the operations after it. Between parts may be gaps. Bounded by a weight of operations, of
/// which those far from the player are forgotten, and by ``boardBytes``.
struct RecordedLesson: Sendable {
    /// Operations between two boards that are kept; more where boards are large.
    private static let leastSpacing = 256
    /// Bytes of all boards that are kept, about.
    private static let boardBytes = 24 << 20
    /// A point of an operation, or so many bytes of its message, weigh 1.
    static let bytesOfWeight = 100

    /// A kept board, and the operations after it up to the board of the next part.
    private struct Part: Sendable {
        let board: StudentBoard
        var entries: [LessonReplay.Entry] = []
        var weight = 0
        /// Bytes of the messages of a board that came with a reply; 0 for one that shares its strokes with those before it.
        var joinedBytes = 0

        var last: UInt64 { board.index + UInt64(entries.count) }

        /// Bytes of the board, about: its strokes are shared with the others.
        var boardBytes: Int { 1024 + 2 * board.visibleCount }
    }

    /// An operation after which another page is shown.
    struct Visit: Sendable {
        let index: UInt64
        let page: Int
        let time: MediaTime
    }

    /// Visits that are kept; of a lesson with more those that were fetched first.
    private static let mostVisits = 4096

    /// Incarnation of the room; empty before anything was fetched.
    private(set) var room = ""
    private(set) var epochs: [ReplayReply.Epoch] = []
    /// How many operations are kept, and their weight.
    private(set) var count = 0
    private(set) var weight = 0
    /// Whether a stroke is due with its last point, and not with its first.
    let grows: Bool
    private let weightLimit: Int
    private let joinedByteLimit: Int
    /// In the order of their boards.
    private var parts: [Part] = []
    private var spacing = Self.leastSpacing
    /// When pages came to be shown, as far as the lesson was ever fetched, in the order of the log. The first operation counts.
    private(set) var visits: [Visit] = []
    /// The board after the operation that was added last.
    private var tip: StudentBoard?

    /// - Parameters:
    ///   - weightLimit: of the operations that are kept, but for those that the player is at.
    ///   - joinedByteLimit: bytes of the messages of boards that came with replies.
    init(grows: Bool, weightLimit: Int = .max, joinedByteLimit: Int = 64 << 20) {
        (self.grows, self.joinedByteLimit) = (grows, joinedByteLimit)
        self.weightLimit = max(weightLimit, 1)
    }

    /// Bytes of the messages of boards that came with replies, or more.
    var joinedBytes: Int { parts.reduce(0) { $0 + $1.joinedBytes } }

    /// Whether nothing was fetched yet.
    var isEmpty: Bool { parts.isEmpty }

    /// The last operation that there is, fetched or not; 0 for none.
    var last: UInt64 { epochs.reduce(0) { max($0, $1.indices.upperBound) } }

    /// How many operations can be kept, where all are as long as those that are here.
    var capacity: Double { Double(weightLimit) * Double(count) / Double(max(weight, 1)) }
}

// MARK: - Adding

extension RecordedLesson {
    /// A reply has come.
    /// - Parameter board: the one that its operations follow; nil where they follow what is there.
    /// - Throws: where it is of another life of the room.
    mutating func begin(
        room: String, epochs: [ReplayReply.Epoch], board: StudentBoard?
    ) throws(MalformedRelease) {
        guard self.room.isEmpty || room == self.room else {
            throw MalformedRelease(description: "the room has begun anew")
        }
        (self.room, self.epochs) = (room, epochs)
        thinOut()
        guard let board, place(of: board.index) == nil else { return }
        insert(Part(board: board, joinedBytes: board.byteEstimate))
    }

    /// Adds the next operation of the reply; one that is there already is left out.
    /// - Throws: where it does not follow one that is there, or does not lead to the digest that it names.
    mutating func add(_ raw: ReplayReply.Entry) throws(MalformedRelease) {
        let index = raw.operation.index
        guard index > 0, var place = place(of: index - 1) else {
            throw MalformedRelease(description: "an operation is missing before \(index)")
        }
        guard parts[place].last < index else { return }
        guard var board = tip?.index == index - 1 ? tip : self.board(at: index - 1) else { return }
        tip = nil
        // Parts are small enough that what is at the player and behind it can be kept.
        if parts[place].entries.count >= spacing || parts[place].weight > weightLimit / 8 {
            insert(Part(board: board))
            place += 1
        }
        let entry = try LessonReplay.Entry(raw, grows: grows, after: entry(index - 1))
        let shown = board.pages.shown
        do throws(StudentBoard.Divergence) {
            try board.apply(entry.operation)
        } catch {
            throw MalformedRelease(description: error.description)
        }
        if place + 1 < parts.count, parts[place + 1].board.index == index, parts[place + 1].board.digest != board.digest
        {
            throw MalformedRelease(description: "the board at \(index) is another")
        }
        parts[place].entries.append(entry)
        parts[place].weight += entry.weight
        (count, weight) = (count + 1, weight + entry.weight)
        tip = board
        if index == 1 || board.pages.shown != shown {
            note(Visit(index: index, page: board.pages.shown, time: entry.order.time))
        }
    }

    private mutating func note(_ visit: Visit) {
        let place = visits.firstIndex { $0.index >= visit.index } ?? visits.count
        // What was forgotten may be fetched again.
        guard visits.count < Self.mostVisits, place == visits.count || visits[place].index != visit.index else {
            return
        }
        visits.insert(visit, at: place)
    }

    private mutating func insert(_ part: Part) {
        parts.insert(part, at: parts.firstIndex { $0.board.index > part.board.index } ?? parts.count)
    }

    /// Keeps fewer boards where they are large.
    private mutating func thinOut() {
        while spacing < 1 << 20, parts.reduce(0, { $0 + $1.boardBytes }) > Self.boardBytes {
            spacing *= 2
            var merged: [Part] = []
            for part in parts {
                if let last = merged.last, last.last == part.board.index,
                    last.entries.count + part.entries.count <= spacing
                {
                    merged[merged.count - 1].entries += part.entries
                    merged[merged.count - 1].weight += part.weight
                } else {
                    merged.append(part)
                }
            }
            guard merged.count < parts.count else { return }
            parts = merged
        }
    }

    /// Forgets parts on the side of an index where more is kept, while there is too much.
    mutating func prune(around index: UInt64) {
        while weight > weightLimit || joinedBytes > joinedByteLimit {
            // A part without operations weighs something, too.
            let before = parts.reduce(0) { $0 + ($1.last < index ? $1.weight + 1 : 0) }
            let after = parts.reduce(0) { $0 + ($1.board.index > index ? $1.weight + 1 : 0) }
            guard before + after > 0 else { return }
            let part = before > after ? parts.removeFirst() : parts.removeLast()
            (count, weight) = (count - part.entries.count, weight - part.weight)
        }
    }
}

// MARK: - Reading

extension RecordedLesson {
    /// The number of operations that a player at a time has passed: those of the epoch that are due before it, and those of
    /// earlier epochs.
    /// - Parameter epoch: whose time line it is; nil where that is not known.
    /// - Returns: nil where the operations around are to be fetched.
    func index(before time: MediaTime, epoch: Int64?) -> UInt64? {
        var (part, after) = (Part?.none, Part?.none)
        for candidate in parts {
            guard let first = candidate.entries.first else { continue }
            guard first.isPassed(by: time, epoch) else {
                after = candidate
                break
            }
            part = candidate
        }
        if let part {
            let passed = part.entries.passedCount(by: time, epoch)
            let index = part.board.index + UInt64(passed)
            // Behind a part's last operation comes the next part, or the end of the lesson.
            if passed < part.entries.count || after?.board.index == index || index == last { return index }
        }
        // No operation of an epoch comes before its first.
        let begin = epochs.first { $0.number == epoch }?.indices.lowerBound ?? 1
        guard let first = part == nil ? after ?? parts.first : after,
            first.board.index == 0 || first.board.index + 1 == begin
        else { return nil }
        return first.board.index
    }

    /// The board after so many operations; nil where it cannot be had from what is kept.
    func board(at index: UInt64) -> StudentBoard? {
        guard let place = place(of: index) else { return nil }
        var board = parts[place].board
        for entry in parts[place].entries.prefix(Int(index - board.index)) {
            guard (try? board.apply(entry.operation)) != nil else { return nil }
        }
        return board
    }

    /// The operations after an index, as far as they are kept without a gap, until `body` returns false.
    func forEach(after index: UInt64, _ body: (LessonReplay.Entry) -> Bool) {
        guard var place = place(of: index) else { return }
        var index = index
        while place < parts.count, index >= parts[place].board.index, index <= parts[place].last {
            for entry in parts[place].entries.dropFirst(Int(index - parts[place].board.index)) where !body(entry) {
                return
            }
            index = parts[place].last
            place += 1
        }
    }

    /// The operations through an index, the last first, as far as they are kept without a gap, until `body` returns false.
    func forEach(through index: UInt64, _ body: (LessonReplay.Entry) -> Bool) {
        guard var place = parts.lastIndex(where: { $0.board.index < index }), index <= parts[place].last else { return }
        var count = Int(index - parts[place].board.index)
        while true {
            for entry in parts[place].entries[..<count].reversed() where !body(entry) { return }
            guard place > 0, parts[place - 1].last == parts[place].board.index else { return }
            place -= 1
            count = parts[place].entries.count
        }
    }

    /// An operation, where it is kept.
    func entry(_ index: UInt64) -> LessonReplay.Entry? {
        guard index > 0, let place = parts.lastIndex(where: { $0.board.index < index }),
            index <= parts[place].last
        else { return nil }
        return parts[place].entries[Int(index - parts[place].board.index - 1)]
    }

    /// What is kept around an index without a gap: the board that it begins with, the last operation, and the weight behind
    /// the index.
    func stretch(_ index: UInt64) -> (first: UInt64, last: UInt64, ahead: Int) {
        guard var end = place(of: index) else { return (index, index, 0) }
        var start = end
        while start > 0, parts[start - 1].last == parts[start].board.index { start -= 1 }
        var ahead = parts[end].entries.dropFirst(Int(index - parts[end].board.index)).reduce(0) { $0 + $1.weight }
        while end + 1 < parts.count, parts[end + 1].board.index == parts[end].last {
            end += 1
            ahead += parts[end].weight
        }
        return (parts[start].board.index, parts[end].last, ahead)
    }

    /// The last operation that is due before a time and kept; nil for none.
    func lastEntry(before time: MediaTime, epoch: Int64?) -> LessonReplay.Entry? {
        guard let part = parts.last(where: { $0.entries.first?.isPassed(by: time, epoch) ?? false }) else { return nil }
        return part.entries[part.entries.passedCount(by: time, epoch) - 1]
    }

    /// The board of the next part behind an index.
    func nextBoard(after index: UInt64) -> UInt64? { parts.first { $0.board.index > index }?.board.index }

    /// When a player has reached the end of an epoch, as far as is known.
    func end(of epoch: Int64?) -> MediaTime? {
        guard let span = epochs.first(where: { $0.number == epoch }) else { return nil }
        guard let last = entry(span.indices.upperBound), last.order.epoch == epoch, last.order.time > .distantPast
        else {
            return span.to
        }
        return max(span.to ?? last.order.time, last.order.time)
    }

    /// The part that has the board after so many operations.
    private func place(of index: UInt64) -> Int? {
        guard let place = parts.lastIndex(where: { $0.board.index <= index }), index <= parts[place].last else {
            return nil
        }
        return place
    }
}

extension [LessonReplay.Entry] {
    /// How many of these, which are in the order of the log, a player has passed.
    func passedCount(by time: MediaTime, _ epoch: Int64?) -> Int {
        partitioningIndex { !$0.isPassed(by: time, epoch) }
    }
}
