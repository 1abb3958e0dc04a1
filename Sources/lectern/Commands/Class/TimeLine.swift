import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The time line of the strokes that `lectern publish` sends.
enum TimeLine: String, CaseIterable, ExpressibleByArgument {
    /// As `live` where the room tells the time at the teacher, else as `media`.
    case auto
    /// The time at the teacher, as the clock of the students' video tells it.
    case live
    /// The lesson's own times.
    case media
    case utc
    /// Milliseconds since the start of publishing, or another moment.
    case sinceStart = "since-start"
}

struct TimeLineOptions: ParsableArguments {
    @Option(
        name: .customLong("time"),
        help: ArgumentHelp(
            """
            Times of the strokes: live, the time at the teacher when they are drawn, as the room's clock tells it; media, as \
            in the lesson; utc, when they are drawn; since-start, milliseconds since the start; auto, live where the room \
            tells it, else media.
            """,
            valueName: "line"))
    var line = TimeLine.auto

    @Option(
        help: ArgumentHelp(
            "With --time since-start: the moment from which it counts, such as 2026-01-31T09:00:00Z, or in milliseconds of UTC. Default: when publishing starts.",
            valueName: "time"), transform: moment)
    var start: Double?

    @Option(
        help: ArgumentHelp(
            "Gateway whose clock is UTC, such as http://127.0.0.1:8080. Default: this machine's clock is.",
            valueName: "url"))
    var gateway: String?

    func validate() throws {
        guard start == nil || line == .sinceStart else { throw ValidationError("--start goes with --time since-start") }
        guard let gateway else { return }
        guard line == .utc || start != nil else {
            throw ValidationError("--gateway goes with --time utc, or with --start")
        }
        guard let url = URL(string: gateway), url.host != nil, ["http", "https"].contains(url.scheme) else {
            throw ValidationError("--gateway is a URL with http or https")
        }
    }

    /// The time of a lesson's beginning if it begins now; nil where the lesson's times stay. Says on standard error whose
    /// clock it is, and what is wrong with it, or ends the command with status 2.
    /// - Parameter mayMove: whether times may become others than the lesson's without being asked to.
    func origin(of room: RoomAddress, over connection: NATSConnection, mayMove: Bool) async throws -> Int64? {
        switch line {
        case .auto:
            try await roomTime(of: room, over: connection, isNeeded: false).flatMap { mayMove ? $0 : nil }
        case .live: try await roomTime(of: room, over: connection, isNeeded: true)
        case .media: nil
        case .utc: Int64(try await utc().rounded())
        case .sinceStart: if let start { Int64((try await utc() - start).rounded()) } else { 0 }
        }
    }

    /// The time at the teacher.
    /// - Returns: nil where it is not known.
    private func roomTime(
        of room: RoomAddress, over connection: NATSConnection, isNeeded: Bool
    ) async throws -> Int64? {
        let time: RoomTime
        do throws(RoomDirectoryError) {
            time = try await RoomDirectory(connection: connection, root: "").time(of: room)
        } catch {
            // The service may come later, or this user may not ask: the journal takes the strokes.
            guard isNeeded else { return nil }
            throw ExitCode.failed("\(error)")
        }
        if case .live(let live) = time {
            if isNeeded { StandardError.write("time: the room's, by the clock of the students' video") }
            return live.milliseconds()
        }
        if isNeeded {
            throw ExitCode.failed("the time at the teacher is unknown: no clock of the room sends its age")
        }
        if let warning = time.warning { StandardError.write("lectern: \(warning)") }
        return nil
    }

    /// UTC in milliseconds, by the gateway's clock where there is one.
    private func utc() async throws -> Double {
        guard let gateway else {
            StandardError.write("time: UTC by this machine's clock")
            return GatewayTime.now
        }
        do {
            let time = try await GatewayTime(of: gateway)
            StandardError.write("time: UTC by \(gateway), \(time)")
            return GatewayTime.now + time.offset
        } catch {
            StandardError.write("lectern: no time from \(gateway): \(error.localizedDescription)")
            throw ExitCode.cannotConnect
        }
    }

    /// Parses a date with a zone, or milliseconds of UTC.
    @Sendable private static func moment(_ text: String) throws -> Double {
        if let milliseconds = Double(text), abs(milliseconds) < 0x1p53 { return milliseconds }
        if let time = CalendarTime.read(text[...]) { return Double(time.microseconds) / 1000 }
        throw ValidationError("--start is a time such as 2026-01-31T09:00:00Z, or milliseconds of UTC")
    }
}

/// How far a gateway's clock is ahead of this machine's, by `GET /api/time`, in the manner of NTP (RFC 5905, section 8):
/// of several exchanges the one with the least delay counts.
struct GatewayTime: CustomStringConvertible {
    /// Milliseconds by which the gateway's clock is ahead.
    let offset: Double
    /// Milliseconds by which the offset may be wrong: half the delay, all of which may lie on one of the two ways.
    let uncertainty: Double

    private struct Answer: Decodable {
        let received: Double
        let sent: Double
    }

    init(of gateway: String) async throws {
        guard let url = URL(string: gateway)?.appending(path: "api/time") else { throw URLError(.badURL) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 5
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var best: (offset: Double, delay: Double)?
        for _ in 0..<8 {
            let asked = Self.now
            let (data, response) = try await session.data(from: url)
            let heard = Self.now
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            let answer = try JSONDecoder().decode(Answer.self, from: data)
            guard max(abs(answer.received), abs(answer.sent)) < 0x1p53 else { throw URLError(.cannotParseResponse) }
            let delay = heard - asked - (answer.sent - answer.received)
            if delay < best?.delay ?? .infinity {
                best = ((answer.received - asked + answer.sent - heard) / 2, delay)
            }
        }
        offset = best?.offset ?? 0
        uncertainty = max(best?.delay ?? 0, 0) / 2
    }

    /// UTC in milliseconds by this machine's clock.
    static var now: Double { Date().timeIntervalSince1970 * 1000 }

    var description: String {
        let way = offset < 0 ? "behind" : "ahead of"
        return String(
            format: "which is %.1f ms \(way) this machine's clock, within %.1f ms", abs(offset), uncertainty)
    }
}
