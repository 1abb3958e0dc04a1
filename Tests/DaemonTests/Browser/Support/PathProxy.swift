import Foundation
import NATSClient
import TestSupport

/// A real nginx that serves a gateway below a path, by `config/proxy/nginx-path.conf`. It ends with the test.
final class PathProxy: Sendable {
    static let isInstalled = InstalledProgram("nginx") != nil

    /// `http://127.0.0.1:PORT/board/`: where the start page is.
    let address: String
    private let folder: URL

    /// Starts it, and waits until the gateway answers through it.
    /// - Parameters:
    ///   - path: from `/` to `/`.
    ///   - gateway: its host and port.
    init(_ path: String, port: Int, to gateway: String) async throws {
        address = "http://127.0.0.1:\(port)\(path)"
        folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let locations = try String(
            contentsOfFile: PackageRoot.path(to: "config/proxy/nginx-path.conf"), encoding: .utf8)
        // One process, which ends with all that it does.
        let configuration = """
            master_process off;
            daemon off;
            pid \(folder.path)/nginx.pid;
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder.path);
                proxy_temp_path \(folder.path);
                fastcgi_temp_path \(folder.path);
                uwsgi_temp_path \(folder.path);
                scgi_temp_path \(folder.path);
                server {
                    listen 127.0.0.1:\(port);
                    \(locations.replacing("/board/", with: path).replacing("127.0.0.1:8080", with: gateway))
                }
            }
            """
        let file = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: file)
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end nginx") }
        let log = folder.appending(path: "nginx.log").path
        started.add(
            try ChildProcess(
                "/usr/bin/env", arguments: ["nginx", "-e", log, "-p", folder.path, "-c", file.path], log: log))
        try await eventually(
            "nginx serves the gateway; \(log)",
            is: (try? await HTTPClient(port: port).get("\(path)healthz"))?.statusCode == 200)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
