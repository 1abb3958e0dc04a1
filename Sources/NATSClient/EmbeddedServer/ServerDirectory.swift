internal import Foundation

/// The files of one server: its configuration, its log, and the file in which it tells its port.
struct ServerDirectory: Sendable {
    private let url: URL
    private let hasConfiguration: Bool

    /// A new directory for temporary files.
    init(configuration: String?) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-nats-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        hasConfiguration = configuration != nil
        if let configuration {
            try Data(configuration.utf8).write(to: configurationFile)
        }
    }

    var logFile: URL { url.appendingPathComponent("server.log") }

    private var configurationFile: URL { url.appendingPathComponent("server.conf") }

    func arguments(for settings: EmbeddedServer.Settings) -> [String] {
        let port = settings.port == 0 ? "-1" : String(settings.port)
        var arguments = ["-a", "127.0.0.1", "-p", port, "--ports_file_dir", url.path]
        if hasConfiguration { arguments += ["-c", configurationFile.path] }
        if let store = settings.storeDirectory { arguments += ["-js", "-sd", store] }
        return arguments
    }

    /// The port of the server, once it listens: its file is named after the program and the process.
    func port(of process: Int32) -> Int? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path),
            let name = names.first(where: { $0.hasSuffix("_\(process).ports") }),
            let data = try? Data(contentsOf: url.appendingPathComponent(name)),
            let ports = try? JSONDecoder().decode(Ports.self, from: data)
        else { return nil }
        return ports.nats.lazy.compactMap { URL(string: $0)?.port }.first
    }

    private struct Ports: Decodable {
        var nats: [String]
    }

    /// The end of the log.
    func logTail() -> String {
        let log = (try? Data(contentsOf: logFile)) ?? Data()
        return String(decoding: log.suffix(1000), as: UTF8.self)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
