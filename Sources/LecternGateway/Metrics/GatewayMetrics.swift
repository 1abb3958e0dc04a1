/// The gateway's own metrics.
public enum GatewayMetrics {
    static let requests = "lectern_http_requests_total"
    static let readers = "lectern_http_readers"
    static let events = "lectern_http_events_total"
    static let wet = "lectern_http_wet_events_total"
    static let joins = "lectern_http_joins_total"
    static let malformed = "lectern_http_malformed_total"
    static let skew = "lectern_skew_seconds"
    static let earlySkew = "lectern_skew_early_total"
    static let skewReaders = "lectern_skew_readers"
    static let badSkewRooms = "lectern_skew_bad_rooms"
    static let ignoredSkews = "lectern_skew_ignored_total"
    static let coreFailures = "lectern_http_core_failures_total"
    static let closedConnections = "lectern_http_connections_closed_total"
    static let seconds = "lectern_http_request_seconds"
    static let refusedPublishes = "lectern_publishes_refused_total"
    static let revokedTokens = "lectern_revoked_tokens"
    static let revokedRequests = "lectern_revoked_requests_total"

    /// Help texts by metric name, for ``PrometheusRegistry``.
    public static let help = [
        requests: "HTTP requests answered, by route and status.",
        seconds: "Time from the head of an HTTP request to its answer, by route, without sending the body.",
        closedConnections: "HTTP connections that the gateway closed at one of its bounds, by reason.",
        refusedPublishes:
            "Messages that JetStream refused for lack of space, by stream, as far as this process sent them.",
        readers: "Event streams that are open, or being opened.",
        events: "Operations sent as events, each counted once, whatever the number of its readers.",
        wet: "Messages with points of strokes being drawn sent as events, each counted once.",
        joins: "Joins of feeds for event streams, by outcome.",
        malformed: "Messages on the subjects of feeds that could not be read.",
        skew: "How far ink and picture are apart at readers, as they report, by cohort.",
        earlySkew: "Observations of ink drawn more than 40 ms before its picture, by cohort.",
        skewReaders: "Readers that reported in the last minute, by cohort.",
        badSkewRooms: "Rooms whose ink is later than http.skew_alarm, or early, in the last minute, by cohort.",
        ignoredSkews: "Observations that did not count: beyond one a second a reader, or of too many readers.",
        coreFailures: "Boards and teachers in browsers whose core failed and was replaced, as their pages report.",
        revokedTokens: "Revocations of tokens that this gateway knows.",
        revokedRequests: "Requests and event streams refused or ended because their token has been revoked.",
        MetricTable.refused: "Metrics or series asked for that had no room, or were of another kind than before.",
    ]
}
