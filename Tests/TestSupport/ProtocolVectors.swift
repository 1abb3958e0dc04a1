internal import Foundation

/// The test vectors of the protocol: JSON files beside its articles.
package enum ProtocolVectors {
    private static let folder = "Sources/StrokeWire/StrokeWire.docc/Resources"

    /// Reads a file from the sources.
    package static func read<Contents: Decodable>(_ file: String, as type: Contents.Type) throws -> Contents {
        try JSONDecoder().decode(type, from: Data(contentsOf: URL(filePath: PackageRoot.path(to: "\(folder)/\(file)"))))
    }

    /// The cases of a file, at least so many: a file that is cut short must not pass.
    package static func cases<Vector: Decodable>(
        _ file: String, of type: Vector.Type, atLeast least: Int
    ) throws -> [Vector] {
        let cases = try read(file, as: VectorFile<Vector>.self).cases
        guard cases.count >= least else { throw Unexpected("\(file) has \(cases.count) cases, not \(least)") }
        return cases
    }

    /// Names of all files.
    package static func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: PackageRoot.path(to: folder))
            .filter { $0.hasSuffix(".json") }.sorted()
    }

    package static func article(_ name: String) throws -> String {
        try String(
            contentsOfFile: PackageRoot.path(to: "Sources/StrokeWire/StrokeWire.docc/\(name).md"), encoding: .utf8)
    }
}

private struct VectorFile<Vector: Decodable>: Decodable { let cases: [Vector] }

/// A JSON value as Foundation reads it.
package enum AnyJSON: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    package static func decode(_ bytes: [UInt8]) throws -> AnyJSON {
        try JSONDecoder().decode(AnyJSON.self, from: Data(bytes))
    }

    /// A member of an object.
    package subscript(_ name: String) -> AnyJSON? {
        get {
            if case .object(let members) = self { members[name] } else { nil }
        }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// Levels of arrays and objects.
    package var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }

    /// Members of all objects in it.
    package var memberCount: Int {
        switch self {
        case .array(let elements): elements.reduce(0) { $0 + $1.memberCount }
        case .object(let members): members.values.reduce(members.count) { $0 + $1.memberCount }
        default: 0
        }
    }
}

extension AnyJSON: ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: AnyJSON...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, AnyJSON)...) {
        self = .object(Dictionary(uniqueKeysWithValues: members))
    }
}
