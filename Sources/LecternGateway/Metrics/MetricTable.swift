/// The metrics by name, and the bounds on them.
///
/// At most 1,000 metrics, each with at most `maxSeries` combinations of labels. Combinations beyond share one series
/// with all label values `other`. A metric beyond, or one asked for as another kind than it is, gets a series that
/// works but is not shown. Both are counted in `lectern_metrics_refused_total`.
struct MetricTable {
    static let refused = "lectern_metrics_refused_total"
    static let maxMetrics = 1000

    private var families: [String: MetricFamily] = [:]
    private let maxSeries: Int

    init(maxSeries: Int) {
        self.maxSeries = maxSeries
    }

    /// The metrics by name.
    var sorted: [(name: String, family: MetricFamily)] {
        families.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The series for these labels, made when it is not there yet.
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

    /// Forgets a series wherever it stands; a series that others share, because it stands for an overflow, stays.
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
        // Counting the refusals of this metric itself would never end.
        guard name != Self.refused else { return }
        // One place more than for other metrics, so that this one is always shown.
        if families[Self.refused] == nil { families[Self.refused] = MetricFamily(CounterSeries.self) }
        series(Self.refused, LabelSet([("metric", name)])) { CounterSeries() }.increment(by: 1)
    }
}

/// One metric: its series by labels.
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
