/// What the gateway measures about itself.
public enum GatewayMetrics {
    static let requests = "lectern_http_requests_total"
    static let seconds = "lectern_http_request_seconds"

    /// One sentence for each metric, by its name: part of the table that ``PrometheusRegistry`` is made with.
    public static let help = [
        requests: "HTTP requests answered, by route and status.",
        seconds: "Time from the head of an HTTP request to its answer, by route, without sending the body.",
        MetricTable.refused: "Metrics or series asked for that had no room, or were of another kind than before.",
    ]
}
