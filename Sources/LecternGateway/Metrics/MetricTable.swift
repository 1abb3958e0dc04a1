/// The metrics by name, and the bounds on them.
///
/// At most 1,000 metrics, each with at most `maxSeries` combinations of labels. Further combinations share one series
/// with all label values `other`. A further metric, or one requested as another kind than it has, gets a series that
/// works but is not shown. Both are counted in `lectern_metrics_refused_total`.
struct MetricTable {
    static let refused = "lectern_metrics_refused_total"
    static let maxMetrics = 1000

    private var families: [String: MetricFamily] = [:]
    private let maxSeries: Int

    init(maxSeries: Int) {
        self.maxSeries = maxSeries
    }

    var sorted: [(name: String, family: MetricFamily)] {
        families.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The series for these labels; makes a missing one.
    mutating func series<Series: MetricSeries>(_ name: String, _ labels: LabelSet, make: () -> Series) -> Series {
        guard let family = families[name] ?? emptyFamily(Series.self), family.kind == ObjectIdentifier(Series.self)
        else {
            refuse(name)
            return make()
        }
        if let known = family.series[labels] as? Series { return known }
        let isFull = family.series.count >= maxSeries && labels != labels.overflowing
        if isFull { refuse(name) }
        let place = isFull ? labels.overflowing : labels
        if let known = family.series[place] as? Series { return known }
        let made = make()
        families[name, default: family].series[place] = made
        return made
    }

    /// Removes a series from its metric. The series that overflowing combinations share stays.
    mutating func remove(_ series: any MetricSeries) {
        for (name, family) in families {
            for (labels, other) in family.series where other === series {
                if labels != labels.overflowing || labels.isEmpty { families[name]?.series[labels] = nil }
                return
            }
        }
    }

    private func emptyFamily<Series: MetricSeries>(_ kind: Series.Type) -> MetricFamily? {
        families.count < Self.maxMetrics ? MetricFamily(kind) : nil
    }

    private mutating func refuse(_ name: String) {
        // The counter does not count refusals of its own series: that would never end.
        guard name != Self.refused else { return }
        // Added beyond the bound, so that it is always shown.
        if families[Self.refused] == nil { families[Self.refused] = MetricFamily(CounterSeries.self) }
        series(Self.refused, LabelSet([("metric", name)])) { CounterSeries() }.increment(by: 1)
    }
}

/// One metric, with its series by labels.
struct MetricFamily {
    /// The class of all its series.
    let kind: ObjectIdentifier
    let type: MetricType
    var series: [LabelSet: any MetricSeries] = [:]

    init<Series: MetricSeries>(_ kind: Series.Type) {
        self.kind = ObjectIdentifier(kind)
        type = kind.type
    }
}

/// The labels of a series, sorted by name.
struct LabelSet: Hashable {
    struct Label: Hashable {
        let name: String
        let value: String
    }

    let labels: [Label]

    /// - Parameters:
    ///   - dimensions: names and values as swift-metrics has them. Characters that a label name cannot have become `_`;
    ///     of two labels with one name the later counts.
    ///   - reserved: a name that the text format uses itself; a label of that name gets the prefix `_`.
    init(_ dimensions: [(String, String)], reserved: String? = nil) {
        var values: [String: String] = [:]
        for (name, value) in dimensions {
            let name = MetricName.label(name)
            values[name == reserved ? "_" + name : name] = value
        }
        labels = values.sorted { $0.key < $1.key }.map { Label(name: $0.key, value: $0.value) }
    }

    private init(labels: [Label]) {
        self.labels = labels
    }

    var isEmpty: Bool { labels.isEmpty }

    /// The same labels with the value `other`, for combinations beyond the bound.
    var overflowing: LabelSet {
        LabelSet(labels: labels.map { Label(name: $0.name, value: "other") })
    }
}

extension LabelSet: Comparable {
    /// Orders by name and value, label after label.
    static func < (a: LabelSet, b: LabelSet) -> Bool {
        a.labels.lexicographicallyPrecedes(b.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}
