import Foundation
import StrokeWire
import Whiteboard

/// Takes orders for pictures and has them made on threads of its own, away from those that release operations.
///
/// Orders of one subject wait together: one drawing, of the newest board among them, and one file answer all. A newer
/// board that comes while an older one is drawn supersedes it: the drawing ends after the stroke it is at, and goes on
/// towards the newer board from there. Nobody gets an older board than there was at the order.
///
/// Bounded: at most so many orders wait or are worked on as there are places in the budget; orders beyond are answered
/// `not-ready`. Rooms are divided among the threads by their names, and so is the memory.
final class PictureDesk: Sendable {
    /// How orders are answered, from any thread.
    struct Answers: Sendable {
        let send: @Sendable (_ file: [UInt8], _ reply: String) -> Void
        let refuse: @Sendable (_ reply: String, _ error: RequestError) -> Void
    }

    private let easels: [Easel]
    private let budget: Budget
    private let answers: Answers
    private let state = Locked<(orders: PictureOrders, isClosing: Bool)>((PictureOrders(), false))

    /// - Parameter idleTime: canvases that nobody asks for are kept so long.
    init(
        _ configuration: ServerConfiguration, budget: Budget, answers: Answers, idleTime: Duration = .seconds(600)
    ) {
        // Half of the cores: the other half is left to the rooms.
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        easels = (0..<count).map { number in
            let renderer = BoardRenderer(configuration, byteLimit: configuration.canvasBytes / count)
            return Easel(renderer, name: "lectern.pictures.\(number)", idleTime: idleTime)
        }
        self.budget = budget
        self.answers = answers
    }

    /// Orders the picture of a board; returns at once.
    func order(_ subject: PictureSubject, of board: Board, reply: String) {
        guard budget.take() else {
            return refuse(
                reply, RequestError(.notReady, "The server is busy with other requests; ask again in a second."))
        }
        if state.withLock({ $0.orders.add(subject, of: board, reply: reply) }) { draw(subject) }
    }

    /// Says no at once.
    func refuse(_ reply: String, _ error: RequestError) {
        answers.refuse(reply, error)
    }

    /// Refuses all orders that wait, ends the drawings under way after the stroke they are at, and returns when that
    /// is done.
    func close() {
        state.withLock { $0.isClosing = true }
        for easel in easels { easel.finish() }
    }

    private func draw(_ subject: PictureSubject) {
        let number = UInt(bitPattern: subject.room.hashValue) % UInt(easels.count)
        easels[Int(number)].draw { [self] renderer in
            // The others first, then those who want a newer board than this one.
            if answer(subject, by: renderer) { draw(subject) }
        }
    }

    /// - Returns: whether somebody waits for a newer board than was drawn.
    private func answer(_ subject: PictureSubject, by renderer: BoardRenderer) -> Bool {
        while let board = state.withLock({ $0.isClosing ? nil : $0.orders.board(for: subject) }) {
            do throws(BoardRenderer.Abandoned) {
                let file = try renderer.png(of: board, subject, at: MonotonicClock.now()) {
                    state.withLock { !$0.isClosing && $0.orders.board(for: subject)?.index == board.index }
                }
                return finish(subject, through: board.index) { answers.send(file, $0) }
            } catch {
                // Superseded by a newer board, or the daemon ends.
            }
        }
        return finish(subject, through: .max) {
            answers.refuse($0, RequestError(.notReady, "The server is shutting down."))
        }
    }

    private func finish(_ subject: PictureSubject, through index: UInt64, _ answer: (String) -> Void) -> Bool {
        let (replies, areMoreLeft) = state.withLock { $0.orders.take(subject, through: index) }
        for reply in replies {
            answer(reply)
            budget.giveBack()
        }
        return areMoreLeft
    }
}
