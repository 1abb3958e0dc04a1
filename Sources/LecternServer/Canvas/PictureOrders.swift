import Whiteboard

/// Who waits for which picture.
struct PictureOrders: Sendable {
    private struct Wanted {
        /// The newest board among the orders.
        var board: Board
        var orders: [(reply: String, index: UInt64)]
    }

    private var wanted: [PictureSubject: Wanted] = [:]

    /// The board that is to be drawn for a subject.
    func board(for subject: PictureSubject) -> Board? { wanted[subject]?.board }

    /// - Returns: whether nobody waited for the subject before.
    mutating func add(_ subject: PictureSubject, of board: Board, reply: String) -> Bool {
        let order = (reply: reply, index: board.index)
        guard let index = wanted.index(forKey: subject) else {
            wanted[subject] = Wanted(board: board, orders: [order])
            return true
        }
        wanted.values[index].orders.append(order)
        if board.index > wanted.values[index].board.index { wanted.values[index].board = board }
        return false
    }

    /// Takes out the orders that a board of that index satisfies.
    /// - Returns: their replies, and whether somebody waits for a newer board.
    mutating func take(_ subject: PictureSubject, through index: UInt64) -> (replies: [String], areMoreLeft: Bool) {
        guard var left = wanted.removeValue(forKey: subject) else { return ([], false) }
        let replies = left.orders.filter { $0.index <= index }.map(\.reply)
        left.orders.removeAll { $0.index <= index }
        if !left.orders.isEmpty { wanted[subject] = left }
        return (replies, !left.orders.isEmpty)
    }
}
