internal import Dispatch

#if canImport(Glibc)
internal import Glibc
private typealias FileActions = posix_spawn_file_actions_t
private typealias Attributes = posix_spawnattr_t
#else
internal import Darwin
private typealias FileActions = posix_spawn_file_actions_t?
private typealias Attributes = posix_spawnattr_t?
#endif

/// A child process that does not outlive this process.
///
/// A shell starts a watcher and then becomes the program. The watcher reads from a pipe whose other end this process
/// holds. The end of the file means that this process has ended: the watcher sends SIGTERM to the program. A line means
/// that the program has ended: its process number may already be another's.
///
/// Not Foundation's `Process`: that counts a program as running as long as any of its children, such as the watcher.
package final class ChildProcess: Sendable {
    private static let script = """
        PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
        exec 3<&0
        { read -r line <&3 || kill -TERM $$; } >/dev/null 2>&1 4>&- &
        exec "$0" "$@" </dev/null 3<&-
        """

    package let identifier: Int32
    /// Fulfilled with the status of `waitpid`.
    private let exited = Promise<Int32>()

    /// Starts a program, whose output goes to a new file at `log`.
    /// - Parameter kept: a file descriptor that the program has open as long as it runs, as number 4.
    package init(
        _ program: String, arguments: [String], log: String, keeping kept: Int32? = nil
    ) throws(EmbeddedServerError) {
        // The watcher may have ended when the pipe is written to. libnats ignores this signal too.
        signal(SIGPIPE, SIG_IGN)
        let (reading, writing) = try Self.makePipe()
        defer { close(reading) }
        do throws(EmbeddedServerError) {
            identifier = try spawn(
                ["/bin/sh", "-c", Self.script, program] + arguments, standardInput: reading, output: log, keeping: kept)
        } catch {
            close(writing)
            throw error
        }
        // A thread of its own, because it blocks as long as the program runs.
        DispatchQueue(label: "nats-server").async { [identifier, exited] in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            _ = write(writing, "\n", 1)
            close(writing)
            exited.fulfil(.success(status))
        }
    }

    package var hasExited: Bool { exited.isFulfilled }

    /// The exit code; nil when a signal ended the program, or when it has not ended within `limit`.
    package func exitCode(within limit: Duration) async -> Int32? {
        guard case .success(let status) = await exited.value(within: limit), status & 0x7f == 0 else { return nil }
        return (status >> 8) & 0xff
    }

    /// Waits until the program has ended, or the task is cancelled.
    func waitForExit() async { _ = await exited.value() }

    /// Sends SIGTERM, and SIGKILL after `timeout`. Returns when the program has ended.
    package func end(timeout: Duration) async {
        if !hasExited { kill(identifier, SIGTERM) }
        if case .failure = await exited.value(within: timeout), !hasExited { kill(identifier, SIGKILL) }
        // In a task that is never cancelled: the caller relies on the program having ended.
        _ = await Task { [exited] in await exited.value() }.value
    }

    /// A pipe that children do not inherit, except one that another thread starts between the two calls: that child
    /// keeps the program running as long as it runs itself.
    private static func makePipe() throws(EmbeddedServerError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .notStarted(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

/// Starts a program in a process group of its own, so that a Ctrl-C in the terminal does not end it.
///
/// - Parameters:
///   - command: the program's path and its arguments.
///   - standardInput: a file descriptor.
///   - output: the path of a new file for standard output and error.
///   - kept: another file descriptor, which it gets as number 4.
/// - Returns: the process number, which the caller must wait for.
private func spawn(
    _ command: [String], standardInput: Int32, output: String, keeping kept: Int32?
) throws(EmbeddedServerError) -> Int32 {
    #if canImport(Glibc)
    var (files, attributes) = (FileActions(), Attributes())
    #else
    var (files, attributes): (FileActions, Attributes) = (nil, nil)
    #endif
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    posix_spawn_file_actions_adddup2(&files, standardInput, STDIN_FILENO)
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO)
    if let kept { posix_spawn_file_actions_adddup2(&files, kept, 4) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    // The program gets the default signals, whatever this process ignores or blocks.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, command[0], &files, &attributes, &arguments, environ)
    guard code == 0 else { throw .notStarted(code: code) }
    return identifier
}
