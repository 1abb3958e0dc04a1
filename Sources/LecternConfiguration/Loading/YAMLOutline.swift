internal import Foundation
internal import StrokeWire
internal import Yams

/// Which keys a YAML file has, and on which lines: what a provider of values cannot tell.
struct YAMLOutline {
    /// Lines, from 1, of the settings that have a value of the right shape.
    private(set) var lines: [String: Int] = [:]
    /// The cohorts by name that have a section, even an empty one.
    private(set) var cohorts: Set<CohortName> = []
    /// Unknown keys, keys given twice, and values of the wrong shape, in the order of the file.
    private(set) var faults: [ConfigurationFault] = []

    private let file: String

    /// - Parameters:
    ///   - root: nil for a file of nothing but comments.
    ///   - file: its name, for the faults.
    init(root: Node?, file: String) {
        self.file = file
        switch root {
        case nil: break
        case .mapping(let mapping)?: visit(mapping, below: "")
        case let node? where node.null != nil: break
        case let node?:
            complain("the file", node.mark?.line, "is to be a mapping, as in \"limits:\" with \"shards: 1024\" below")
        }
    }

    private mutating func visit(_ mapping: Node.Mapping, below prefix: String) {
        for (name, value) in mapping {
            guard let name = name.scalar else {
                complain(prefix.isEmpty ? "a key" : prefix + "*", name.mark?.line, "keys are to be plain words")
                continue
            }
            visit(value, at: prefix + name.string, name.mark?.line)
        }
    }

    private mutating func visit(_ value: Node, at key: String, _ line: Int?) {
        let entry = SettingKeys.all.entry(key)
        if case .cohort(let name) = entry { cohorts.insert(name) }
        switch (entry, value) {
        case (nil, _):
            faults.append(ConfigurationFault(origin: place(key, line), unknownKey: key))
        case (.section, .mapping(let below)), (.cohort, .mapping(let below)):
            visit(below, below: key + ".")
        case (.section, _) where value.null != nil, (.cohort, _) where value.null != nil:
            // All its keys are commented out.
            break
        case (.section, _), (.cohort, _):
            complain(key, line, "has no value of its own; its keys go below it, indented")
        case (.setting, _) where value.null != nil:
            complain(key, line, "has no value")
        case (.setting(isList: false), .scalar):
            note(key, line)
        case (.setting(isList: true), .sequence(let elements)) where elements.allSatisfy { $0.scalar != nil }:
            note(key, line)
        case (.setting(let isList), _):
            complain(key, line, isList ? "is to be a list of single values" : "is to be a single value")
        }
    }

    private mutating func note(_ key: String, _ line: Int?) {
        // YAML itself refuses the same key twice in one mapping; `a.b` beside `a:` with `b` below is left.
        if lines[key] == nil {
            lines[key] = line ?? 0
        } else {
            complain(key, line, "is there twice")
        }
    }

    private mutating func complain(_ key: String, _ line: Int?, _ complaint: String) {
        faults.append(ConfigurationFault(origin: place(key, line), complaint: complaint))
    }

    private func place(_ key: String, _ line: Int?) -> String {
        line.map { "\(file):\($0): \(key)" } ?? "\(file): \(key)"
    }
}
