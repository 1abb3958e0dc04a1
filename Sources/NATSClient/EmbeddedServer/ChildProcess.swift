internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A program that does not outlive this process.
///
/// A shell starts a watcher and then becomes the program. The watcher reads from a pipe, the leash, whose other end
/// this process holds: the end of the file means that this process is gone, however it went, and the program is told
/// to end; a line means that the program has ended, so that its number may belong to another one already.
/// Not Foundation's `Process`, which takes a program for running as long as anything it started, such as the watcher.
package final class ChildProcess: Sendable {
    private static let script = """
        PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
        exec 3<&0
        { read -r line <&3 || kill -TERM $$; } >/dev/null 2>&1 &
        exec "$0" "$@" </dev/null 3<&-
        """

    package let identifier: Int32
    /// What `waitpid` says of it.
    private let exited = Promise<Int32>()

    /// Starts a program; what it prints goes to a new file at `log`.
    package init(_ program: String, arguments: [String], log: String) throws(EmbeddedServerError) {
        // The watcher may be gone when it is written to. libnats ignores this signal as well, once it is used.
        signal(SIGPIPE, SIG_IGN)
        let (reading, writing) = try Self.makeLeash()
        defer { close(reading) }
        do throws(EmbeddedServerError) {
            identifier = try spawn(
                ["/bin/sh", "-c", Self.script, program] + arguments, standardInput: reading, output: log)
        } catch {
            close(writing)
            throw error
        }
        // Blocks for as long as the program runs: a thread of its own.
        DispatchQueue(label: "nats-server").async { [identifier, exited] in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            _ = write(writing, "\n", 1)
            close(writing)
            exited.fulfil(.success(status))
        }
    }

    package var hasExited: Bool { exited.isFulfilled }

    /// The code it ended with; nil where a signal ended it, or it has not ended within `limit`.
    package func exitCode(within limit: Duration) async -> Int32? {
        guard case .success(let status) = await exited.value(within: limit), status & 0x7f == 0 else { return nil }
        return (status >> 8) & 0xff
    }

    /// Waits until the program has ended, or the task is cancelled.
    func waitForExit() async { _ = await exited.value() }

    /// SIGTERM, and SIGKILL when the program is still there after `patience`. Returns when it has ended.
    package func end(patience: Duration) async {
        if !hasExited { kill(identifier, SIGTERM) }
        if case .failure = await exited.value(within: patience), !hasExited { kill(identifier, SIGKILL) }
        // Not in a task that may be cancelled: the caller relies on the program having ended.
        _ = await Task { [exited] in await exited.value() }.value
    }

    /// A pipe that children do not inherit. One that is started by another thread between the two calls does, and
    /// then keeps the program running for as long as it runs itself.
    private static func makeLeash() throws(EmbeddedServerError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .notStarted(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
