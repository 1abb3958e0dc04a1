/// Writes metrics in Prometheus' text exposition format, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats).
struct ExpositionWriter {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Writes a metric with all its series; nothing for one without series.
    mutating func write(_ family: MetricFamily, name: String, help: String?) {
        guard !family.series.isEmpty else { return }
        if let help { text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n" }
        text += "# TYPE \(name) \(family.type.rawValue)\n"
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
            series.write(name: name, labels: labels, into: &self)
        }
    }

    /// Writes one line with a value.
    /// - Parameter bound: of a histogram: how many values lie at or below it.
    mutating func write(_ name: String, _ labels: LabelSet, bound: Double? = nil, _ value: String) {
        text += name
        var pairs = labels.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(Self.number(bound))\"") }
        if !pairs.isEmpty { text += "{\(pairs.joined(separator: ","))}" }
        text += " \(value)\n"
    }

    /// A whole number without a fraction; any other in the shortest form that reads back as the same number.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? value.description
    }

    /// Escapes backslashes and line feeds, and quotation marks when the text stands between two.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Prometheus names made from the labels of swift-metrics.
enum MetricName {
    /// The name of a counter, which ends in `_total`.
    static func counter(_ label: String) -> String { withSuffix("_total", plain(label)) }

    /// The name of a timer, which ends in `_seconds`.
    static func seconds(_ label: String) -> String { withSuffix("_seconds", plain(label)) }

    /// A metric name: letters, digits, `_` and `:`, no digit first; other characters become `_`.
    static func plain(_ label: String) -> String { allowed(label, colon: true) }

    /// A label name: as a metric name, without `:`.
    static func label(_ name: String) -> String { allowed(name, colon: false) }

    private static func withSuffix(_ suffix: String, _ name: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    private static func allowed(_ text: String, colon: Bool) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_":
                name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(scalar)
            case ":" where colon:
                name.unicodeScalars.append(scalar)
            default:
                name.unicodeScalars.append("_")
            }
        }
        return name.isEmpty ? "_" : name
    }
}
