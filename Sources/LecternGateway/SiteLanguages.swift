internal import Foundation
internal import Hummingbird

/// Why a folder of translations cannot be used.
public struct LanguageError: Error, Sendable, CustomStringConvertible {
    public let description: String
}

/// The translations of the site's texts: those in the program, and those of a folder.
///
/// A translation is a JSON file `TAG.json`, such as `ar.json`, with a tag after BCP 47:
/// `{"language":"ar","direction":"rtl","texts":{"Connected":"…"}}`. English texts are the keys; where one is missing English is
/// shown.
public struct SiteLanguages: Sendable {
    /// What a translation's file has. The pages read more of it.
    private struct Head: Decodable {
        let language: String
        let direction: String?
        let texts: [String: Text]
    }

    /// A text, or one for each form of a plural.
    private enum Text: Decodable {
        case one(String)
        case forms([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                self = .one(try container.decode(String.self))
            } catch {
                self = .forms(try container.decode([String: String].self))
            }
        }
    }

    private static let english = SiteRoutes.File(
        path: "lectern/languages/en.json", bytes: Array(#"{"language":"en","texts":{}}"#.utf8))
    /// Bytes of a file, and files of a folder.
    private static let limits = (bytes: 1 << 20, files: 100)

    /// By their tags in lower case.
    private let files: [String: SiteRoutes.File]
    /// The tags of all of them and of English, sorted: `{"languages":["en","zh"]}`.
    let list: SiteRoutes.File

    /// Those in the program.
    public init() { self.init(adding: []) }

    /// Those in the program, and those of a folder, which come before them. Reads the folder once.
    /// - Parameter folder: its path.
    public init(folder: String) throws(LanguageError) { self.init(adding: try Self.read(folder)) }

    private init(adding others: [(name: String, bytes: [UInt8])]) {
        let own = SiteRoutes.files.filter { $0.key.hasPrefix("lectern/languages/") }
        var files = Dictionary(uniqueKeysWithValues: own.map { (Self.tag($0.key), $0.value) })
        for (name, bytes) in others {
            files[Self.tag(name)] = SiteRoutes.File(path: "lectern/languages/\(name)", bytes: bytes)
        }
        self.files = files
        let tags = ["languages": Set(files.keys).union(["en"]).sorted()]
        // Texts alone: that cannot fail.
        let bytes = (try? JSONEncoder().encode(tags)) ?? Data()
        list = SiteRoutes.File(path: "lectern/languages.json", bytes: [UInt8](bytes))
    }

    private static func tag(_ path: String) -> String {
        (path.split(separator: "/").last ?? "").replacing(".json", with: "").lowercased()
    }

    private static func read(_ folder: String) throws(LanguageError) -> [(name: String, bytes: [UInt8])] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
                .sorted()
        } catch {
            throw LanguageError(description: "\(folder): \(error.localizedDescription)")
        }
        guard names.count <= limits.files else {
            throw LanguageError(description: "\(folder): more than \(limits.files) files")
        }
        return try names.map { name throws(LanguageError) in
            let path = "\(folder)/\(name)"
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw LanguageError(description: "\(path): cannot be read")
            }
            guard bytes.count <= limits.bytes else {
                throw LanguageError(description: "\(path): more than \(limits.bytes) bytes")
            }
            guard let head = try? JSONDecoder().decode(Head.self, from: bytes), tag(name) == head.language.lowercased(),
                head.direction == nil || head.direction == "ltr" || head.direction == "rtl"
            else {
                throw LanguageError(
                    description: """
                        \(path): not {"language":"\(tag(name))","direction":"ltr" or "rtl","texts":{ENGLISH:TEXT}}
                        """)
            }
            return (name, [UInt8](bytes))
        }
    }

    /// The translation that fits best; English where none does, or where English is asked for first.
    /// - Parameter asked: a tag, or a list of them with weights, as `Accept-Language` has it (RFC 9110, 12.5.4).
    func file(for asked: String) -> SiteRoutes.File {
        for range in Self.ranges(asked) {
            // Lookup of RFC 4647, 3.4: less and less of the tag.
            var parts = range.split(separator: "-")
            while !parts.isEmpty {
                let tag = parts.joined(separator: "-")
                if let file = files[tag] { return file }
                if tag == "en" { return Self.english }
                parts.removeLast()
            }
        }
        return Self.english
    }

    /// Tags in lower case, the most wanted first.
    private static func ranges(_ asked: String) -> [String] {
        let weighed = WeightedItem.list(asked.prefix(1024))
        // Stable: of equal weights the first.
        return weighed.enumerated().filter { $0.element.weight > 0 }
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.name)
    }
}
