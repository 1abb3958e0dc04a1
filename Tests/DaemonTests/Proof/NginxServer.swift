import Foundation
import Locking
import NATSClient
import TestSupport

/// A real nginx: takes RTMP, has FFmpeg package it as HLS, and serves a folder over HTTP. It ends with the test.
final class NginxServer: Sendable {
    let folder: URL
    /// `http://127.0.0.1:PORT`: the folder, and the page of the proof under `player/`.
    let address: String
    /// `rtmp://127.0.0.1:PORT/live`.
    let rtmp: String
    private let children = Locked<[ChildProcess]>([])

    /// Whether nginx and its RTMP module are installed.
    static let isInstalled =
        InstalledProgram("nginx") != nil
        && FileManager.default.fileExists(atPath: "/usr/lib/nginx/modules/ngx_rtmp_module.so")

    /// Runs a body with a server whose folder is removed afterwards.
    static func with(_ body: @escaping @Sendable (NginxServer) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "proof-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try NginxServer(folder, http: try FreePort.find(), rtmp: try FreePort.find())
        let result: Result<Void, any Error>
        do {
            _ = try await eventually("nginx serves") {
                let port = Int(server.address.split(separator: ":").last ?? "") ?? 0
                return try await HTTPClient(port: port).get("/player/player.js").statusCode == 200 ? true : nil
            }
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        // Its workers would outlive a master that is killed.
        for child in server.children.withLock({ $0 }) { await child.end(timeout: .seconds(5)) }
        try result.get()
    }

    private init(_ folder: URL, http: Int, rtmp: Int) throws {
        self.folder = folder
        address = "http://127.0.0.1:\(http)"
        self.rtmp = "rtmp://127.0.0.1:\(rtmp)/live"
        let player = PackageRoot.path(to: "Tests/DaemonTests/Proof/Player")
        // Each stream that is published is packaged into the folder, in segments of a second.
        let configuration = """
            load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
            user root;
            worker_processes 1;
            daemon off;
            pid \(folder.path)/nginx.pid;
            error_log \(folder.path)/nginx.log info;
            events {}
            rtmp {
                server {
                    listen 127.0.0.1:\(rtmp);
                    application live {
                        live on;
                        exec_push ffmpeg -v error -fflags nobuffer -analyzeduration 0 -i \(self.rtmp)/$name \
            -c copy -f hls -hls_time 1 -hls_list_size 12 -hls_segment_type fmp4 \
            -hls_flags append_list+independent_segments \(folder.path)/$name.m3u8;
                    }
                }
            }
            http {
                access_log off;
                types { text/html html; text/javascript js; application/vnd.apple.mpegurl m3u8; video/mp4 mp4 m4s; }
                client_body_temp_path \(folder.path);
                proxy_temp_path \(folder.path);
                fastcgi_temp_path \(folder.path);
                uwsgi_temp_path \(folder.path);
                scgi_temp_path \(folder.path);
                server {
                    listen 127.0.0.1:\(http);
                    root \(folder.path);
                    add_header Cache-Control no-store;
                    add_header Access-Control-Allow-Origin *;
                    location /player/ { alias \(player)/; }
                }
            }
            """
        let file = folder.appending(path: "nginx.conf").path
        try Data(configuration.utf8).write(to: URL(filePath: file))
        try start("nginx -e \(folder.path)/nginx.log -p \(folder.path) -c \(file)")
    }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    /// Starts a command line of the shell, one program, in the folder. It ends with the test.
    @discardableResult
    func start(_ command: String) throws -> ChildProcess {
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end \(command)") }
        let child = try ChildProcess(
            "/bin/sh", arguments: ["-c", "cd '\(folder.path)'; exec \(command)"],
            log: path("\(command.split(separator: " ")[0].split(separator: "/").last ?? "log")-\(UUID()).log"))
        started.add(child)
        children.withLock { $0.append(child) }
        return child
    }
}
