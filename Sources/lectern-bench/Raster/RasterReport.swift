import Foundation

/// What was measured in each round.
struct Series {
    private var values: [Double] = []

    mutating func add(_ value: Double) { values.append(value) }

    var least: Double { values.min() ?? 0 }
    var most: Double { values.max() ?? 0 }

    var median: Double {
        let sorted = values.sorted()
        guard let last = sorted.indices.last else { return 0 }
        return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
    }
}

/// Figures with their spread, printed as a table or as JSON.
struct RasterReport {
    private let json: Bool
    private var figures: [(name: String, series: Series)] = []

    init(json: Bool) {
        self.json = json
    }

    mutating func add(_ name: String, _ series: Series) { figures.append((name, series)) }

    /// Adds a figure that is the same in every round.
    mutating func add(_ name: String, _ value: Double) {
        var series = Series()
        series.add(value)
        add(name, series)
    }

    func print() {
        func number(_ value: Double, _ format: String) -> String { String(format: format, value) }
        if json {
            let members = figures.map { name, series in
                let parts = [("median", series.median), ("least", series.least), ("most", series.most)]
                    .map { #""\#($0.0)":\#(number($0.1, "%.6g"))"# }
                return #""\#(name)":{\#(parts.joined(separator: ","))}"#
            }
            Swift.print("{\(members.joined(separator: ","))}")
            return
        }
        for (name, series) in figures {
            let label = name.padding(toLength: max(72, name.count), withPad: " ", startingAt: 0)
            let spread =
                series.least == series.most
                ? "" : "  (\(number(series.least, "%.4g")) … \(number(series.most, "%.4g")))"
            Swift.print(label + number(series.median, "%10.5g") + spread)
        }
    }
}
