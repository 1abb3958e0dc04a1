internal import Hummingbird

/// `GET /metrics` for Prometheus.
struct MetricsRoute {
    let registry: PrometheusRegistry

    func add(to router: Router<BasicRequestContext>) {
        router.get("metrics") { [registry] _, _ in
            Response.body(registry.text().utf8, type: ExpositionWriter.contentType)
        }
    }
}
