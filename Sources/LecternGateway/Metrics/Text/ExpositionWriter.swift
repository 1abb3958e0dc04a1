/// Writes metrics in Prometheus' text exposition format, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats).
struct ExpositionWriter {
    /// What an HTTP response with this text is declared as.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// A metric with all its series; nothing for one without series.
    mutating func write(_ family: MetricFamily, name: String, help: String?) {
        guard !family.series.isEmpty else { return }
        if let help { text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n" }
        text += "# TYPE \(name) \(family.type.rawValue)\n"
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
            series.write(name: name, labels: labels, into: &self)
        }
    }

    /// One line with a count.
    mutating func write(_ name: String, _ labels: LabelSet, _ count: UInt64) {
        line(name, labels.labels[...], bound: nil, String(count))
    }

    /// One line with a number.
    mutating func write(_ name: String, _ labels: LabelSet, _ value: Double) {
        line(name, labels.labels[...], bound: nil, Self.number(value))
    }

    /// One line of a histogram: how many values lie at or below the bound.
    mutating func write(_ name: String, _ labels: LabelSet, bound: Double, _ count: UInt64) {
        line(name, labels.labels[...], bound: bound, String(count))
    }

    private mutating func line(_ name: String, _ labels: ArraySlice<LabelSet.Label>, bound: Double?, _ value: String) {
        text += name
        var pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(Self.number(bound))\"") }
        if !pairs.isEmpty { text += "{\(pairs.joined(separator: ","))}" }
        text += " \(value)\n"
    }

    /// Whole numbers without a fraction, others in the shortest form that reads back as the same.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? value.description
    }

    /// A backslash and a line feed are escaped everywhere, a quotation mark where the text stands between two.
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
