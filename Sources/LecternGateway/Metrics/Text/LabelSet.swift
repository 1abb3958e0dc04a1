/// The labels of a series, sorted by name, so that the order in which they are given makes no difference.
struct LabelSet: Hashable {
    struct Label: Hashable {
        let name: String
        let value: String
    }

    let labels: [Label]

    /// - Parameters:
    ///   - dimensions: names and values as swift-metrics has them; characters that a label's name cannot have become
    ///     `_`, and of two labels with the same name the later counts.
    ///   - reserved: a name that the text format uses itself; a label of that name gets a `_` before it.
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

    /// The same labels with the value `other`, for what there is no more room for.
    var overflowing: LabelSet {
        LabelSet(labels: labels.map { Label(name: $0.name, value: "other") })
    }
}

extension LabelSet: Comparable {
    /// By the names and values, label after label.
    static func < (a: LabelSet, b: LabelSet) -> Bool {
        a.labels.lexicographicallyPrecedes(b.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}
