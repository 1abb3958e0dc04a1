internal import CNATS
internal import Dispatch
internal import Locking
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The only thread that reads and writes the socket of a connection.
///
/// By default libnats 3.4.1 reads on one thread and writes on any publisher's. With TLS both then use one SSL object at
/// the same time, which corrupts memory; a publisher that finds the buffer full waits for the socket; and the loss by a
/// failed write is not reported. With this loop a publisher only fills a buffer and wakes the thread, and a failed
/// write ends the connection.
///
/// libnats must close the connection on this thread or after the thread has ended: see `stop`.
final class SocketLoop: Sendable {
    private struct State {
        /// The socket, while libnats has it open.
        var socket: Int32?
        var wantsRead = false
        var wantsWrite = false
        var isStopping = false
        /// Whether the thread was started.
        var isRunning = false
    }

    private let state = Locked(State())
    /// A byte in this pipe makes the thread look at the state.
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private let ended = DispatchSemaphore(value: 0)
    /// The start of the write under way, in nanoseconds of the monotonic clock; 0 without one.
    private let writingSince = Atomic<UInt64>(0)
    private let writeDeadline: Duration
    private let onStall: @Sendable () -> Void

    /// - Parameters:
    ///   - writeDeadline: how long the socket may accept nothing.
    ///   - onStall: called on the thread at that deadline.
    init(writeDeadline: Duration, onStall: @escaping @Sendable () -> Void) throws(NATSError) {
        self.writeDeadline = writeDeadline
        self.onStall = onStall
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

    /// The age of the write under way. With TLS a write holds libnats' lock until the socket has accepted all of it.
    var writeDuration: Duration {
        let start = writingSince.load(ordering: .relaxed)
        guard start != 0 else { return .zero }
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
        state.withLock { state in
            state.wantsRead = isWanted
            // libnats does this before it closes the socket, whose number may then become another's.
            if !isWanted { state.socket = nil }
        }
        wake()
    }

    fileprivate func wantWrite(_ isWanted: Bool) {
        state.withLock { $0.wantsWrite = isWanted }
        // Only the thread itself sets it to false.
        if isWanted { wake() }
    }

    private func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = write(wakeWriter, &byte, 1)
    }

    // MARK: The thread

    private func run(_ connection: OpaquePointer) {
        var blockedSince: ContinuousClock.Instant?
        while let (socket, events) = state.withLock({ $0.isStopping ? nil : Self.interest(in: $0) }) {
            var polled = [
                pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: events, revents: 0),
            ]
            let waitsToWrite = events & Int16(POLLOUT) != 0
            guard poll(&polled, 2, waitsToWrite ? Int32(clamping: writeDeadline.wholeMilliseconds) : -1) >= 0 else {
                continue
            }
            if polled[0].revents != 0 { takeWakes() }
            let ready = polled[1].revents
            // After a hang-up, reading gives the reason.
            if ready & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 { natsConnection_ProcessReadEvent(connection) }
            if ready & Int16(POLLOUT) != 0 {
                blockedSince = nil
                writingSince.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
                natsConnection_ProcessWriteEvent(connection)
                writingSince.store(0, ordering: .relaxed)
            } else if waitsToWrite {
                let start = blockedSince ?? .now
                blockedSince = start
                if ContinuousClock.now - start >= writeDeadline { return onStall() }
            } else {
                blockedSince = nil
            }
        }
    }

    private static func interest(in state: State) -> (socket: Int32, events: Int16)? {
        guard let socket = state.socket else { return nil }
        return (socket, Int16((state.wantsRead ? POLLIN : 0) | (state.wantsWrite ? POLLOUT : 0)))
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
