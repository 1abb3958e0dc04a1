internal import Configuration
internal import Foundation
internal import Yams

/// A YAML file of settings, read and checked for its keys; its values are checked when they are looked up.
struct ConfigurationFile {
    /// Its name, as it was given.
    let path: String
    let outline: YAMLOutline
    /// Its values; nil where its shape, by the faults of the outline, is not one of settings at all.
    let values: YAMLSnapshot?

    /// - Throws: `ConfigurationFault` for a file that cannot be read or is no YAML.
    init(path: String) throws(ConfigurationFault) {
        let contents: [UInt8]
        do {
            contents = try [UInt8](Data(contentsOf: URL(filePath: path)))
        } catch {
            let complaint =
                switch (error as? CocoaError)?.code {
                case .fileReadNoSuchFile?, .fileNoSuchFile?: "there is no such file"
                case .fileReadNoPermission?: "may not be read"
                default: "cannot be read"
                }
            throw ConfigurationFault(origin: path, complaint: complaint)
        }
        try self.init(path: path, contents: contents)
    }

    /// - Throws: `ConfigurationFault` for contents that are no YAML.
    init(path: String, contents: [UInt8]) throws(ConfigurationFault) {
        self.path = path
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw ConfigurationFault(origin: path, complaint: "is not UTF-8")
        }
        let root: Node?
        do {
            root = try Parser(yaml: text).singleRoot()
        } catch {
            throw ConfigurationFault(file: path, error)
        }
        outline = YAMLOutline(root: root, file: path)
        do {
            values =
                root?.mapping == nil
                ? nil : try YAMLSnapshot(data: contents.span.bytes, providerName: path, parsingOptions: .default)
        } catch {
            // Refused for a shape that no setting has, such as a mapping in a list.
            guard !outline.faults.isEmpty else { throw ConfigurationFault(origin: path, complaint: "\(error)") }
            values = nil
        }
    }
}
