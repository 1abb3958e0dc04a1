internal import CNATS
internal import Dispatch
internal import Locking
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The thread that reads the socket of a connection, writes to it, and calls the handlers of direct subscriptions.
///
/// By default libnats 3.4.1 reads on one thread and writes on any publisher's. With TLS both then use one SSL object at
/// the same time, which corrupts memory; a publisher that finds the buffer full waits for the socket; and the loss by a
/// failed write is not reported. With this loop a publisher only fills a buffer and wakes the thread, and a failed
/// write ends the connection. At the end of a batch the publisher writes itself, while the thread does not use the
/// socket: that saves the change of threads. Batches go to the socket beside libnats' own buffer, never amid a message of
/// it: libnats makes some twenty heap objects for a message with headers and has another thread free them.
///
/// libnats must close the connection on this thread or after the thread has ended: see `stop`.
final class SocketLoop: Sendable {
    private struct State {
        /// The socket, while libnats has it open.
        var socket: Int32?
        var wantsRead = false
        var wantsWrite = false
        /// Publishers that are in a batch, and whether the thread has to be woken at the end of one.
        var batches = 0
        var isWakeDeferred = false
        /// Whether the thread waits, or is about to, without having seen this state: then it has to be woken.
        var isWaiting = false
        var isStopping = false
        /// Whether the thread was started.
        var isRunning = false
        /// In the order in which they were made.
        var subscriptions: [DirectSubscription] = []

        /// What the thread waits for from now on; nil when it has to end.
        /// - Parameter hasOutput: whether batches are to be written.
        mutating func wait(hasOutput: Bool) -> (socket: Int32, events: Int16)? {
            guard !isStopping, let socket else { return nil }
            isWaiting = true
            return (socket, Int16((wantsRead ? POLLIN : 0) | (wantsWrite || hasOutput ? POLLOUT : 0)))
        }

        mutating func takeDeferredWake() -> Bool {
            defer { isWakeDeferred = false }
            return isWakeDeferred
        }
    }

    private let state = Locked(State())
    /// A byte in this pipe makes the thread look at the state.
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private let ended = DispatchSemaphore(value: 0)
    /// The start of the write under way, in nanoseconds of the monotonic clock; 0 without one.
    private let writingSince = Atomic<UInt64>(0)
    private let writeDeadline: Duration
    /// Whether publishers may write, and batches be bytes of the protocol: over TLS a write waits for the socket.
    let publishersWrite: Bool
    /// Held by whoever reads from the socket or writes to it. The value: whether libnats has written a part of its buffer.
    private let socketUse = Locked(false)
    private let output = BatchOutput()
    private let rounds: DeliveryRounds
    private let onFailure: @Sendable (String) -> Void

    /// - Parameters:
    ///   - writeDeadline: how long the socket may accept nothing.
    ///   - publishersWrite: whether publishers may write: not over TLS, where a write waits for the socket.
    ///   - rounds: has the observer of each delivery.
    ///   - onFailure: called when nothing can be written any more, with the reason.
    init(
        writeDeadline: Duration, publishersWrite: Bool, rounds: DeliveryRounds,
        onFailure: @escaping @Sendable (String) -> Void
    ) throws(NATSError) {
        self.writeDeadline = writeDeadline
        self.publishersWrite = publishersWrite
        self.rounds = rounds
        self.onFailure = onFailure
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NATSError(NATS_SYS_ERROR) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// The age of the write under way over TLS, which holds libnats' lock until the socket has accepted all of it. No other write
    /// waits, however long this process or its machine stands still meanwhile.
    var writeDuration: Duration {
        let start = writingSince.load(ordering: .relaxed)
        guard start != 0, !publishersWrite else { return .zero }
        return .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds &- start))
    }

    /// Ends the thread and waits for its end; afterwards any thread may close the connection. Blocks. Not to be called
    /// on the thread itself.
    func stop() {
        let mustWait = state.withLock { state in
            state.isStopping = true
            // Also ends a read or a write that waits inside libnats.
            if let socket = state.socket { shutdown(socket, Int32(SHUT_RDWR)) }
            defer { state.isRunning = false }
            return state.isRunning
        }
        wake()
        if mustWait { ended.wait() }
        output.close()
        // A publisher may be writing to the socket, which is about to be closed.
        socketUse.withLock { _ in }
    }

    // MARK: Called by libnats

    fileprivate func attach(_ connection: OpaquePointer, _ socket: Int32) {
        state.withLock { state in
            state.socket = socket
            state.wantsRead = true
            state.isRunning = true
        }
        let connection = UInt(bitPattern: connection)
        DispatchQueue(label: "nats socket").async { [self] in
            if let connection = OpaquePointer(bitPattern: connection) { run(connection) }
            nats_ReleaseThreadMemory()
            ended.signal()
        }
    }

    fileprivate func wantRead(_ isWanted: Bool) {
        change { state in
            state.wantsRead = isWanted
            // libnats does this before it closes the socket, whose number may then become another's.
            if !isWanted { state.socket = nil }
            return true
        }
    }

    fileprivate func wantWrite(_ isWanted: Bool) {
        change { state in
            state.wantsWrite = isWanted
            // The writer sets it to false, and then nothing has to be done.
            guard isWanted else { return false }
            if state.batches > 0 { state.isWakeDeferred = true }
            return state.batches == 0
        }
    }

    // MARK: Called by publishers

    /// Bytes of batches that are not written.
    var unwrittenBytes: Int { output.unwritten }

    /// Writes a batch, or has the thread do so. Takes its bytes.
    /// - Parameters:
    ///   - batch: whole messages of the protocol.
    ///   - connection: the one that is attached.
    func publish(_ batch: inout [UInt8], on connection: OpaquePointer) {
        guard !batch.isEmpty else { return }
        output.append(&batch)
        if !writeNow(connection) { change { _ in true } }
    }

    /// Waits until the batches so far are written. Blocks.
    func waitUntilWritten(for limit: Duration) {
        output.waitUntilWritten(until: .now() + .milliseconds(Int(clamping: limit.wholeMilliseconds)))
    }

    /// The thread is not woken for what is published through libnats from now on, until a batch ends.
    func beginBatch() {
        state.withLock { $0.batches += 1 }
    }

    /// Has the thread write what was published.
    func endBatch() {
        change { state in
            state.batches -= 1
            return state.takeDeferredWake()
        }
    }

    /// - Returns: whether nothing is left to be written.
    private func writeNow(_ connection: OpaquePointer) -> Bool {
        guard publishersWrite else { return false }
        return socketUse.withLockIfAvailable { isAmid in
            writeOutput(connection, &isAmid)
            return !hasOutput
        } ?? false
    }

    private var hasOutput: Bool { output.unwritten > 0 || state.withLock { $0.wantsWrite } }

    /// Writes the batches and libnats' buffer, under `socketUse`. The batches go first, so that a PING that asks for a
    /// confirmation of them goes behind.
    private func writeOutput(_ connection: OpaquePointer, _ isAmid: inout Bool) {
        if isAmid {
            isAmid = !processWrite(connection)
            guard !isAmid else { return }
        }
        if let socket = state.withLock({ $0.isStopping ? nil : $0.socket }) {
            switch output.write(to: socket) {
            case .done: break
            case .blocked: return
            case .failed(let code):
                output.close()
                return onFailure("write: \(String(cString: strerror(code)))")
            }
        }
        isAmid = !processWrite(connection)
    }

    /// Has libnats write its buffer. libnats takes a write of nothing for the end of the connection: another thread may
    /// have written all there was.
    /// - Returns: whether nothing is left of it.
    private func processWrite(_ connection: OpaquePointer) -> Bool {
        guard state.withLock({ $0.wantsWrite }) else { return true }
        natsConnection_ProcessWriteEvent(connection)
        return state.withLock { !$0.wantsWrite }
    }

    func writeSoon() {
        change { $0.takeDeferredWake() }
    }

    // MARK: Direct subscriptions

    /// Has the thread deliver the messages of a subscription.
    func add(_ subscription: DirectSubscription) {
        change { state in
            state.subscriptions.append(subscription)
            return true
        }
    }

    func remove(_ subscription: OpaquePointer) {
        state.withLock { $0.subscriptions.removeAll { $0.raw == subscription } }
    }

    private func deliver(_ spent: inout SpentMessages) {
        for subscription in state.withLock({ $0.subscriptions }) { subscription.deliver(&spent) }
    }

    /// Changes the state.
    /// - Parameter body: returns whether the thread has to see the change now.
    private func change(_ body: (inout State) -> Bool) {
        let mustWake = state.withLock { state in
            guard body(&state), state.isWaiting else { return false }
            state.isWaiting = false
            return true
        }
        if mustWake { wake() }
    }

    private func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = write(wakeWriter, &byte, 1)
    }

    // MARK: The thread

    private func run(_ connection: OpaquePointer) {
        var blockedSince: ContinuousClock.Instant?
        var spent = SpentMessages()
        while let (socket, events) = state.withLock({ $0.wait(hasOutput: output.unwritten > 0) }) {
            var polled = [
                pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: events, revents: 0),
            ]
            let waitsToWrite = events & Int16(POLLOUT) != 0
            guard poll(&polled, 2, waitsToWrite ? Int32(clamping: writeDeadline.wholeMilliseconds) : -1) >= 0 else {
                continue
            }
            state.withLock { $0.isWaiting = false }
            if polled[0].revents != 0 { takeWakes() }
            let ready = polled[1].revents
            rounds.run {
                // After a hang-up, reading gives the reason.
                if ready & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 {
                    socketUse.withLock { _ in natsConnection_ProcessReadEvent(connection) }
                }
                // Also what came before a subscription was added.
                deliver(&spent)
            }
            if ready & Int16(POLLOUT) != 0 {
                blockedSince = nil
                writingSince.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
                socketUse.withLock { writeOutput(connection, &$0) }
                writingSince.store(0, ordering: .relaxed)
            } else if waitsToWrite {
                let start = blockedSince ?? .now
                blockedSince = start
                if ContinuousClock.now - start >= writeDeadline { return onFailure("the server accepts no data") }
            } else {
                blockedSince = nil
            }
        }
    }

    private func takeWakes() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(wakeReader, &bytes, 16) == 16 {}
    }

    /// Makes libnats use this loop, which must outlive the connection made with these options.
    func install(in options: OpaquePointer) -> natsStatus {
        natsOptions_SetEventLoop(
            options, Unmanaged.passUnretained(self).toOpaque(), attachLoop, loopReads, loopWrites, detachLoop)
    }

    fileprivate static func from(_ pointer: UnsafeMutableRawPointer?) -> SocketLoop? {
        pointer.map { Unmanaged<SocketLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// `natsEvLoop_Attach`: the connection is made.
private func attachLoop(
    _ userData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ loop: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?, _ socket: natsSock
) -> natsStatus {
    guard let connection, let this = SocketLoop.from(loop) else { return NATS_INVALID_ARG }
    userData?.pointee = loop
    this.attach(connection, socket)
    return NATS_OK
}

/// `natsEvLoop_ReadAddRemove`.
private func loopReads(_ loop: UnsafeMutableRawPointer?, _ isWanted: Bool) -> natsStatus {
    SocketLoop.from(loop)?.wantRead(isWanted)
    return NATS_OK
}

/// `natsEvLoop_WriteAddRemove`; often called under libnats' lock of the connection.
private func loopWrites(_ loop: UnsafeMutableRawPointer?, _ isWanted: Bool) -> natsStatus {
    SocketLoop.from(loop)?.wantWrite(isWanted)
    return NATS_OK
}

/// `natsEvLoop_Detach`: the connection is closed, on the loop's thread or after its end.
private func detachLoop(_ loop: UnsafeMutableRawPointer?) -> natsStatus {
    SocketLoop.from(loop)?.wantRead(false)
    return NATS_OK
}
