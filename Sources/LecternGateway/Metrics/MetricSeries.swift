/// What the TYPE line of a metric says.
enum MetricType: String {
    case counter, gauge, histogram
}

/// The values of one metric for one combination of labels.
protocol MetricSeries: AnyObject, Sendable {
    static var type: MetricType { get }
    /// A label that the text format uses itself with this type.
    static var reservedLabel: String? { get }
    /// Writes its lines.
    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter)
}

extension MetricSeries {
    static var reservedLabel: String? { nil }
}
