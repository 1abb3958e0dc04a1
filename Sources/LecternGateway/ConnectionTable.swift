internal import Locking
internal import Metrics
internal import NIOCore

/// The open connections of a gateway, bounded so that requests for its health always get in.
///
/// A connection beyond the bound closes the one that has waited longest for the head of a request; when none waits, the
/// new one is closed. Other requests than those for health may use fewer connections than there may be, so some are
/// always left for health. Safe from any thread.
final class ConnectionTable: Sendable {
    /// Why the gateway closes a connection.
    enum CloseReason: String, CaseIterable {
        case head = "head-timeout"
        case request = "request-timeout"
        case displaced
        case busy
        case malformed
        case slowReader = "slow-reader"
    }

    private struct Entry {
        let channel: any Channel
        /// When it began to wait for the head of a request; nil while a request is under way.
        var waitingSince: NIODeadline?
        /// Whether the request under way counts against the bound of busy connections.
        var isBusy = false
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var busy = 0
    }

    private let state = Locked(State())
    /// Here for all connections: a copy in each would be 400 bytes.
    let limits: GatewayLimits
    /// Shown from the start, so that a first count is a change.
    private let closeCounters: [CloseReason: Counter]

    init(_ limits: GatewayLimits, registry: PrometheusRegistry) {
        self.limits = limits
        closeCounters = Dictionary(
            uniqueKeysWithValues: CloseReason.allCases.map { reason in
                (
                    reason,
                    Counter(
                        label: GatewayMetrics.closedConnections, dimensions: [("reason", reason.rawValue)],
                        factory: registry)
                )
            })
    }

    /// A connection was opened; it waits for the head of its first request.
    func opened(_ channel: any Channel) {
        let displaced = state.withLock { state -> (any Channel)? in
            var displaced: (any Channel)?
            if state.entries.count >= limits.connections {
                let waiting = state.entries.lazy.compactMap { id, entry in entry.waitingSince.map { (id, $0) } }
                guard let longest = waiting.min(by: { $0.1 < $1.1 }) else { return channel }
                displaced = state.entries.removeValue(forKey: longest.0)?.channel
            }
            state.entries[ObjectIdentifier(channel)] = Entry(channel: channel, waitingSince: .now())
            return displaced
        }
        if let displaced { close(displaced, because: .displaced) }
    }

    /// The head of a request has come; the request before it may still be under way.
    /// - Parameter isForHealth: whether it asks for the gateway's health only.
    /// - Returns: false when it is to be refused because too many connections are busy.
    func began(_ channel: any Channel, isForHealth: Bool) -> Bool {
        state.withLock { state in
            // A connection that was just displaced is no longer in the table, and is about to be closed.
            guard var entry = state.entries[ObjectIdentifier(channel)] else { return true }
            if !isForHealth, !entry.isBusy {
                guard state.busy < limits.busyConnections else { return false }
                state.busy += 1
                entry.isBusy = true
            }
            entry.waitingSince = nil
            state.entries[ObjectIdentifier(channel)] = entry
            return true
        }
    }

    /// The request is read and its answer written: the connection waits for the next request.
    func ended(_ channel: any Channel) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            if state.entries[id]?.isBusy == true { state.busy -= 1 }
            state.entries[id]?.isBusy = false
            state.entries[id]?.waitingSince = .now()
        }
    }

    /// The connection is closed, or follows a feed from now on: readers have a bound of their own.
    func closed(_ channel: any Channel) {
        state.withLock { state in
            if state.entries.removeValue(forKey: ObjectIdentifier(channel))?.isBusy == true { state.busy -= 1 }
        }
    }

    /// Closes a connection and counts it, by reason.
    func close(_ channel: any Channel, because reason: CloseReason) {
        count(reason)
        channel.close(promise: nil)
    }

    func count(_ reason: CloseReason) {
        closeCounters[reason]?.increment()
    }
}
