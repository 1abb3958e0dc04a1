import Foundation
import Locking
public import Logging
import StrokeWire
import Whiteboard

/// The daemon's log: a line an event, on standard error, for people or as JSON.
///
/// A JSON line is `{"time":"2026-03-01T09:30:00.125Z","level":"warning","source":"LecternServer","message":"…","fields":{…}}`;
/// times are UTC. Messages are constant texts, and what varies stands in `fields`, whose values are strings, lists or objects.
///
/// Of one incident there is one line: warnings and errors pass an ``IncidentFilter``. Safe from any thread.
public final class DaemonLog: Sendable {
    /// The form of a line: for people, or a JSON object.
    public enum Format: Sendable {
        case text, json
    }

    private struct State {
        var level: Logger.Level
        var incidents = IncidentFilter()
    }

    private let format: Format
    private let state: Locked<State>

    public init(_ format: Format, level: Logger.Level) {
        self.format = format
        state = Locked(State(level: level))
    }

    /// The lowest severity that is logged, by all loggers of this log.
    public var level: Logger.Level {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// What `LoggingSystem` needs.
    public func handler(label: String) -> any LogHandler {
        let text = StreamLogHandler.standardError(label: label)
        return DaemonLogHandler(log: self, text: text)
    }

    fileprivate func write(_ event: LogEvent, _ metadata: Logger.Metadata, _ text: StreamLogHandler) {
        var metadata = metadata
        if event.level >= .warning {
            let site = "\(event.file):\(event.line)"
            let content = "\(event.message) \(metadata.filter { $0.key != "error" }.description)"
            let now = MonotonicClock.now()
            guard let suppressed = state.withLock({ $0.incidents.add(content, at: site, now) }) else { return }
            if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
        }
        switch format {
        case .text:
            var event = event
            event.metadata = metadata
            text.log(event: event)
        case .json:
            // A line that cannot be written is lost, on a full disk or without a reader: the daemon goes on.
            try? FileHandle.standardError.write(contentsOf: Data(LogLine.json(event, metadata, at: Date())))
        }
    }
}

private struct DaemonLogHandler: LogHandler {
    let log: DaemonLog
    let text: StreamLogHandler
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Set for this logger alone.
    private var ownLevel = Logger.Level.trace

    init(log: DaemonLog, text: StreamLogHandler) {
        self.log = log
        self.text = text
    }

    var logLevel: Logger.Level {
        get { max(log.level, ownLevel) }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        log.write(event, all, text)
    }
}

enum LogLine {
    static func json(_ event: LogEvent, _ metadata: Logger.Metadata, at time: Date) -> [UInt8] {
        var line = Array("{\"time\":\"".utf8)
        line += time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)).utf8
        line += "\",\"level\":\"\(event.level)\",\"source\":".utf8
        line.append(string: event.source)
        line += ",\"message\":".utf8
        line.append(string: "\(event.message)")
        line += ",\"fields\":".utf8
        line.append(metadata)
        line += "}\n".utf8
        return line
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ metadata: Logger.Metadata) {
        append(UInt8(ascii: "{"))
        for (place, (key, value)) in metadata.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { append(UInt8(ascii: ",")) }
            append(string: key)
            append(UInt8(ascii: ":"))
            append(value)
        }
        append(UInt8(ascii: "}"))
    }

    private mutating func append(_ value: Logger.Metadata.Value) {
        switch value {
        case .string(let text): append(string: text)
        case .stringConvertible(let value): append(string: value.description)
        case .dictionary(let values): append(values)
        case .array(let values):
            append(UInt8(ascii: "["))
            for (place, value) in values.enumerated() {
                if place > 0 { append(UInt8(ascii: ",")) }
                append(value)
            }
            append(UInt8(ascii: "]"))
        }
    }
}

/// Lets one line of an incident through, and few of a place in the program, whatever clients do.
///
/// A line that says what the last one of its place said is left out for a minute, and of any lines of a place more than ten
/// in ten seconds. The next one of the place that passes tells how many were left out. Memory: a text of at most
/// ``keptBytes`` for each place in the program that logs.
struct IncidentFilter: Sendable {
    private struct Place {
        var last = ""
        var lastAt = Instant.distantPast
        var windowAt = Instant.distantPast
        var inWindow = 0
        var suppressed = 0
    }

    static let sameInterval = Duration.seconds(60)
    static let window = Duration.seconds(10)
    static let mostInWindow = 10
    static let keptBytes = 512

    private var places: [String: Place] = [:]

    /// - Parameters:
    ///   - content: what the line says, without what varies from one report of an incident to the next.
    ///   - place: a file and line of the program.
    /// - Returns: how many lines of the place were left out before this one; nil where this one is left out.
    mutating func add(_ content: String, at place: String, _ now: Instant) -> Int? {
        let content = String(decoding: content.utf8.prefix(Self.keptBytes), as: UTF8.self)
        var state = places[place, default: Place()]
        defer { places[place] = state }
        if now - state.windowAt >= Self.window { (state.windowAt, state.inWindow) = (now, 0) }
        let isSame = state.last == content && now - state.lastAt < Self.sameInterval
        guard !isSame, state.inWindow < Self.mostInWindow else {
            state.suppressed += 1
            return nil
        }
        state.inWindow += 1
        (state.last, state.lastAt) = (content, now)
        defer { state.suppressed = 0 }
        return state.suppressed
    }
}
