import Foundation

/// Named figures, as a table for people or as JSON for machines.
struct BenchReport {
    private let json: Bool
    private var figures: [(name: String, value: Double)] = []

    init(json: Bool) {
        self.json = json
    }

    mutating func add(_ name: String, _ value: Double) {
        figures.append((name, value))
    }

    func print() {
        if json {
            let members = figures.map { #""\#($0.name)":\#(String(format: "%.6g", $0.value))"# }
            Swift.print("{\(members.joined(separator: ","))}")
            return
        }
        for (name, value) in figures {
            let label = name.padding(toLength: 64, withPad: " ", startingAt: 0)
            Swift.print(label + String(format: "%14.6g", value))
        }
    }
}
