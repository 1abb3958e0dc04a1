import TestSupport

/// The text of `/metrics`, read by the rules of Prometheus' text format 0.0.4: a metric's lines stand together, HELP and
/// TYPE before its samples, each at most once.
struct Exposition {
    struct Family {
        var help = ""
        var type = ""
        /// Values by name and labels, as they are written.
        var samples: [String: Double] = [:]
    }

    private(set) var families: [String: Family] = [:]

    /// - Throws: the first line that breaks a rule.
    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Unexpected("the last line does not end") }
        var current = ""
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            switch (words.first, words.dropFirst().first) {
            case ("#", "HELP"):
                guard words.count == 4, families[words[2]] == nil else { throw Unexpected("HELP again: \(line)") }
                current = words[2]
                families[current] = Family(help: words[3])
            case ("#", "TYPE"):
                guard words.count == 4, words[2] == current || families[words[2]] == nil,
                    families[words[2]]?.type ?? "" == ""
                else { throw Unexpected("TYPE again: \(line)") }
                current = words[2]
                families[current, default: Family()].type = words[3]
            default:
                try add(line, to: current)
            }
        }
    }

    private mutating func add(_ line: Substring, to name: String) throws {
        guard let end = line.lastIndex(of: " "), let value = Double(line[line.index(after: end)...]),
            var family = families[name]
        else { throw Unexpected("no sample: \(line)") }
        let series = String(line[..<end])
        let own = series.prefix { $0 != "{" }
        let names = family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
        guard names.contains(String(own)) else { throw Unexpected("a sample of \(own) among those of \(name)") }
        guard family.samples.updateValue(value, forKey: series) == nil else { throw Unexpected("again: \(series)") }
        families[name] = family
    }

    /// The value of a series, with its labels as they are written; nil where there is none.
    subscript(_ series: String) -> Double? {
        let name = String(series.prefix { $0 != "{" })
        if let family = families[name] { return family.samples[series] }
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            return families[String(name.dropLast(suffix.count))]?.samples[series]
        }
        return nil
    }
}
