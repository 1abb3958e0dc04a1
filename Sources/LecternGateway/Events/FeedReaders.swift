internal import Locking
internal import NIOCore

/// The readers of one feed whose connections belong to one event loop. An event costs one task on the loop, however many
/// readers there are; events that come before it runs are sent together.
final class FeedReaders: Sendable {
    enum Command {
        case send(StreamEvent)
        case reset(StreamEvent)
        case attach(EventReader, [StreamEvent], after: UInt64)
        case refuse(EventReader, GatewayError)
        case detach(EventReader)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isScheduled = false
    }

    private struct Members {
        var readers: [EventReader] = []
        var comments: RepeatedTask?
    }

    private let loop: any EventLoop
    private let commentInterval: TimeAmount
    private let inbox = Locked(Inbox())
    private let members: NIOLoopBoundBox<Members>

    init(_ loop: any EventLoop, _ limits: EventLimits) {
        self.loop = loop
        commentInterval = TimeAmount(limits.commentInterval)
        members = .makeBoxSendingValue(Members(), eventLoop: loop)
    }

    /// Adds a command, from any thread. Commands are carried out in this order.
    func put(_ command: Command) {
        let wasScheduled = inbox.withLock { inbox in
            inbox.commands.append(command)
            defer { inbox.isScheduled = true }
            return inbox.isScheduled
        }
        if !wasScheduled { loop.execute { self.work() } }
    }

    private func work() {
        let commands = inbox.withLock { inbox in
            defer { inbox.commands = [] }
            inbox.isScheduled = false
            return inbox.commands
        }
        for command in commands {
            switch command {
            case .send(let event): for reader in members.value.readers { reader.deliver(event) }
            case .reset(let event): for reader in members.value.readers { reader.deliver(event, isStart: true) }
            case .attach(let reader, let events, let index): attach(reader, events, after: index)
            case .refuse(let reader, let error): reader.refuse(error)
            case .detach(let reader): detach(reader)
            }
        }
        for reader in members.value.readers { reader.flush() }
    }

    private func attach(_ reader: EventReader, _ events: [StreamEvent], after index: UInt64) {
        reader.admit(events, after: index)
        guard !reader.isEnded, reader.place == nil else { return }
        reader.place = members.value.readers.count
        members.value.readers.append(reader)
        guard members.value.comments == nil else { return }
        members.value.comments = loop.scheduleRepeatedTask(
            initialDelay: commentInterval, delay: commentInterval
        ) { [weak self] _ in self?.comment() }
    }

    private func detach(_ reader: EventReader) {
        guard let place = reader.place else { return }
        reader.place = nil
        let last = members.value.readers.removeLast()
        if last !== reader {
            members.value.readers[place] = last
            last.place = place
        }
        if members.value.readers.isEmpty {
            members.value.comments?.cancel()
            members.value.comments = nil
        }
    }

    private func comment() {
        for reader in members.value.readers {
            reader.checkProgress()
            reader.deliver(.comment)
            reader.flush()
        }
    }
}
