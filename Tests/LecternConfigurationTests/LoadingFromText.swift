import LecternConfiguration
import Testing

/// What `load` says is wrong, a line for each fault, with `FILE` for the file's path; empty when nothing is.
func complaints(
    file: String? = nil, environment: [String: String] = [:], arguments: [String: String] = [:]
) throws -> [String] {
    func load(_ path: String?) -> [String] {
        do throws(ConfigurationError) {
            _ = try DaemonConfiguration.load(file: path, environment: environment, arguments: arguments)
            return []
        } catch {
            return error.faults.map { fault in
                path.map { fault.description.replacing($0, with: "FILE") } ?? fault.description
            }
        }
    }
    guard let file else { return load(nil) }
    return try withFile(Array(file.utf8), load)
}

/// The configuration of a file with these contents.
func load(
    file: String, environment: [String: String] = [:], arguments: [String: String] = [:]
) throws -> DaemonConfiguration {
    try withFile(Array(file.utf8)) {
        try DaemonConfiguration.load(file: $0, environment: environment, arguments: arguments)
    }
}
