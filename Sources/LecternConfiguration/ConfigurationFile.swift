internal import Foundation
internal import StrokeWire
internal import Yams

/// A YAML file of settings with its keys checked; values are checked when they are read.
struct ConfigurationFile {
    struct Value {
        /// From 1.
        let line: Int
        /// A list has commas between its elements.
        let text: String
    }

    let path: String
    /// The settings with a value of the right shape.
    private(set) var values: [String: Value] = [:]
    /// The named cohorts that have a section, even an empty one.
    private(set) var cohorts: Set<CohortName> = []
    /// Unknown keys, repeated keys, and values of the wrong shape, in the order of the file.
    private(set) var faults: [ConfigurationFault] = []

    /// - Throws: `ConfigurationFault` for a file that cannot be read or is not YAML.
    init(path: String) throws(ConfigurationFault) {
        self.path = path
        let contents: [UInt8]
        do {
            // `Data(contentsOf:)` refuses pipes.
            contents = try [UInt8](FileHandle(forReadingFrom: URL(filePath: path)).readToEnd() ?? Data())
        } catch {
            let message =
                switch (error as? CocoaError)?.code {
                case .fileReadNoSuchFile?, .fileNoSuchFile?: "there is no such file"
                case .fileReadNoPermission?: "permission denied"
                default: "cannot be read"
                }
            throw ConfigurationFault(origin: path, message: message)
        }
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw ConfigurationFault(origin: path, message: "is not UTF-8")
        }
        let root: Node?
        do {
            root = try Parser(yaml: text).singleRoot()
        } catch {
            throw ConfigurationFault(file: path, error)
        }
        switch root {
        // It has comments alone.
        case nil: break
        case .mapping(let mapping)?: visit(mapping, below: "")
        case let node? where node.null != nil: break
        case let node?:
            addFault("the file", node.mark?.line, "must be a mapping, as in \"limits:\" with \"shards: 1024\" below")
        }
    }

    private mutating func visit(_ mapping: Node.Mapping, below prefix: String) {
        for (name, value) in mapping {
            guard let name = name.scalar else {
                addFault(prefix.isEmpty ? "a key" : prefix + "*", name.mark?.line, "keys must be plain words")
                continue
            }
            visit(value, at: prefix + name.string, name.mark?.line)
        }
    }

    private mutating func visit(_ value: Node, at key: String, _ line: Int?) {
        let entry = SettingKeys.all.entry(key)
        if case .cohort(let name) = entry { cohorts.insert(name) }
        switch (entry, value) {
        case (nil, _) where SettingKeys.removed.contains(key): break
        case (nil, _):
            faults.append(ConfigurationFault(origin: place(key, line), unknownKey: key))
        case (.section, .mapping(let below)), (.cohort, .mapping(let below)):
            visit(below, below: key + ".")
        case (.section, _) where value.null != nil, (.cohort, _) where value.null != nil:
            // All its keys are commented out.
            break
        case (.section, _), (.cohort, _):
            addFault(key, line, "has no value of its own; its keys go below it, indented")
        case (.setting, _) where value.null != nil:
            addFault(key, line, "has no value")
        case (.setting(isList: false), .scalar(let scalar)):
            add(scalar.string, key, line)
        case (.setting(isList: true), .sequence(let elements)) where elements.allSatisfy { $0.scalar != nil }:
            add(elements.compactMap(\.scalar?.string).joined(separator: ","), key, line)
        case (.setting(let isList), _):
            addFault(key, line, isList ? "must be a list of single values" : "must be a single value")
        }
    }

    private mutating func add(_ text: String, _ key: String, _ line: Int?) {
        // YAML refuses a repeated key in one mapping, but not `a.b` besides `a:` with `b` below.
        if values[key] == nil {
            values[key] = Value(line: line ?? 0, text: text)
        } else {
            addFault(key, line, "is given twice")
        }
    }

    private mutating func addFault(_ key: String, _ line: Int?, _ message: String) {
        faults.append(ConfigurationFault(origin: place(key, line), message: message))
    }

    private func place(_ key: String, _ line: Int?) -> String {
        line.map { "\(path):\($0): \(key)" } ?? "\(path): \(key)"
    }
}

extension ConfigurationFault {
    /// An error of the YAML parser in one line, with line and column.
    init(file: String, _ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
            .composer(_, let problem, let mark, _)?:
            self.init(origin: "\(file):\(mark.line):\(mark.column)", message: "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context)?:
            let keys = duplicates.sorted().joined(separator: ", ")
            self.init(origin: "\(file):\(context.mark.line)", message: "has a key more than once: \(keys)")
        default:
            self.init(origin: file, message: "is not YAML: \(error)")
        }
    }
}
