internal import Dispatch
internal import Locking

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The bytes of published batches on their way to the socket, in the order in which the batches ended.
///
/// Any thread appends; the writer is whoever uses the socket.
final class BatchOutput: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// Bytes that were appended, and written, so far.
        var appended: UInt64 = 0
        var written: UInt64 = 0
        var isClosed = false
        /// Threads that wait until so many bytes are written.
        var waiters: [(written: UInt64, semaphore: DispatchSemaphore)] = []

        mutating func takeWaiters() -> [DispatchSemaphore] {
            guard !waiters.isEmpty else { return [] }
            let served = waiters.filter { isClosed || $0.written <= written }
            waiters.removeAll { isClosed || $0.written <= written }
            return served.map(\.semaphore)
        }
    }

    enum Progress {
        /// Everything is written.
        case done
        /// The socket takes no more for now.
        case blocked
        case failed(errno: Int32)
    }

    private let state = Locked(State())
    /// What the writer has taken, and how much of it is written.
    nonisolated(unsafe) private var sending: [UInt8] = []
    nonisolated(unsafe) private var sent = 0

    /// Bytes that are to be written: none when it is closed, or its writer would wait for the socket for ever.
    var unwritten: Int { state.withLock { $0.isClosed ? 0 : Int($0.appended - $0.written) } }

    /// Takes all bytes of `batch`, and leaves other memory in it where that is at hand.
    func append(_ batch: inout [UInt8]) {
        state.withLock { state in
            guard !state.isClosed else { return batch.removeAll(keepingCapacity: true) }
            state.appended += UInt64(batch.count)
            if state.waiting.isEmpty {
                swap(&state.waiting, &batch)
            } else {
                state.waiting += batch
                batch.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Writes as much as the socket takes. The writer's.
    func write(to socket: Int32) -> Progress {
        while true {
            if sent == sending.count {
                sending.removeAll(keepingCapacity: sending.capacity <= Self.keptCapacity)
                sent = 0
                let isEmpty = state.withLock { state in
                    swap(&state.waiting, &sending)
                    return sending.isEmpty
                }
                if isEmpty { return .done }
            }
            let count = sending.withUnsafeBytes { bytes in
                send(socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
                let served = state.withLock { state in
                    state.written += UInt64(count)
                    return state.takeWaiters()
                }
                for semaphore in served { semaphore.signal() }
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                return .blocked
            } else if errno != EINTR {
                return .failed(errno: errno)
            }
        }
    }

    /// Memory that is kept from batch to batch.
    private static let keptCapacity = 1 << 20

    /// Waits until what was appended so far is written, or the output is closed. Blocks.
    func waitUntilWritten(until deadline: DispatchTime) {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard !state.isClosed, state.written < state.appended else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiters.append((state.appended, semaphore))
            return semaphore
        }
        _ = semaphore?.wait(timeout: deadline)
    }

    /// Drops what is not written, and takes nothing more.
    func close() {
        let served = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            return state.takeWaiters()
        }
        for semaphore in served { semaphore.signal() }
    }
}
