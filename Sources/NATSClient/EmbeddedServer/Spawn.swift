#if canImport(Glibc)
internal import Glibc
private typealias FileActions = posix_spawn_file_actions_t
private typealias Attributes = posix_spawnattr_t
#else
internal import Darwin
private typealias FileActions = posix_spawn_file_actions_t?
private typealias Attributes = posix_spawnattr_t?
#endif

/// Starts a program in a process group of its own, so that a Ctrl-C in the terminal is not for it.
///
/// - Parameters:
///   - command: the program's path and its arguments.
///   - standardInput: a file descriptor.
///   - output: the path of a new file for standard output and error.
/// - Returns: the process identifier, which the caller must wait for.
func spawn(_ command: [String], standardInput: Int32, output: String) throws(EmbeddedServerError) -> Int32 {
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
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    // The program gets the usual signals, whatever this process ignores or blocks.
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
