/// Why an embedded server did not start.
public enum EmbeddedServerError: Error, Sendable, CustomStringConvertible {
    /// The system cannot start a process; its error number.
    case notStarted(code: Int32)
    /// There is no such program.
    case programMissing(String)
    /// Another program listens on the port that was asked for.
    case portTaken(Int)
    /// It ended by itself; its last words.
    case exited(why: String)
    /// It did not listen in time.
    case notListening(within: Duration)

    /// The error for a server that ended by itself.
    ///
    /// - Parameters:
    ///   - code: what it ended with; nil for a signal.
    ///   - log: the end of what it printed.
    init(exitedWith code: Int32?, log: String, _ settings: EmbeddedServer.Settings) {
        // 127 is what a shell ends with that does not find a program. Only the log tells that the port was taken.
        if code == 127 {
            self = .programMissing(settings.program)
        } else if log.contains(":\(settings.port): bind: address already in use") {
            self = .portTaken(settings.port)
        } else {
            self = .exited(why: Self.lastWords(of: log))
        }
    }

    public var description: String {
        switch self {
        case .notStarted(let code): "nats-server cannot be started: error \(code)"
        case .programMissing(let program): "no program \(program) on the PATH or in the usual sbin directories"
        case .portTaken(let port): "port \(port) of 127.0.0.1 is taken"
        case .exited(let why): "nats-server ended at once: \(why)"
        case .notListening(let limit): "nats-server does not listen after \(limit / .seconds(1)) s"
        }
    }

    /// What a server says at its end, without the time and the number of the process:
    /// `[4711] 2026/01/31 12:00:00.000000 [FTL] Can't start JetStream: …`, or `nats-server: server.conf:1:0: …`.
    private static func lastWords(of log: String) -> String {
        let lines = log.split(whereSeparator: \.isNewline)
        guard let line = lines.last(where: { $0.contains("[FTL]") }) ?? lines.last else { return "it does not say why" }
        for mark in ["[FTL] ", "nats-server: "] {
            let parts = line.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { return String(parts[1]) }
        }
        return String(line)
    }
}
