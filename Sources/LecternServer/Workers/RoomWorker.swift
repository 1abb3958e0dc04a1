import Foundation
import Whiteboard

/// A thread that runs its share of the rooms: takes what has come, lets the rooms judge it, publishes what they say.
///
/// `post` is safe from any thread; everything else happens on the worker's own.
final class RoomWorker: Sendable {
    private let mailbox: Mailbox<InboundItem>

    /// - Parameter capacity: bytes that may wait.
    init(capacity: Int) {
        mailbox = Mailbox(capacity: capacity)
    }

    /// Hands over an item; one that finds the mailbox full is dropped and counted.
    func post(_ item: InboundItem) {
        mailbox.post(item, cost: item.cost, mustNotBeLost: item.cost == 0)
    }

    /// Hands over a record of a journal that waits at barriers, and so bounds itself.
    func deliver(_ record: JournalRecord) {
        let item = InboundItem.record(record)
        mailbox.post(item, cost: item.cost, mustNotBeLost: true)
    }

    /// Bytes that wait, and items dropped so far.
    var load: (bytes: Int, dropped: Int) { mailbox.load }

    /// Runs until `.stop` comes; returns at once.
    /// - Parameter makeLoop: makes what runs the rooms, on the worker's thread.
    /// - Returns: what finishes when the thread has ended.
    func start(name: String, _ makeLoop: @escaping @Sendable () -> RoomLoop) -> AsyncStream<Never> {
        let (ended, continuation) = AsyncStream.makeStream(of: Never.self)
        let thread = Thread { [mailbox] in
            let loop = makeLoop()
            var batch: [InboundItem] = []
            repeat {
                mailbox.take(into: &batch, until: loop.nextWake)
            } while loop.run(batch)
            continuation.finish()
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
        return ended
    }
}
