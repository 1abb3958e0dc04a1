import Foundation
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Files for browsers")
struct SiteRouteTests {
    /// The folder of the site in this checkout.
    private static let folder = URL(filePath: PackageRoot.path(to: "Sources/LecternGateway/Site"))

    private static func paths() throws -> [String] {
        let folder = Self.folder.resolvingSymlinksInPath().path
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        return files.compactMap { $0 as? String }.filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    @Test("the program has every file of the site's folder, byte for byte")
    func complete() throws {
        let paths = try Self.paths()
        #expect(Set(paths) == Set(SiteRoutes.files.keys))
        for path in paths {
            let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: path)))
            #expect(SiteRoutes.files[path]?.bytes == bytes, "\(path)")
        }
    }

    @Test("each file is served with its type, an entity tag, and a policy that lets no script in")
    func served() async throws {
        try await RunningGateway.with { gateway in
            for file in SiteRoutes.files.values {
                let reply = try await gateway.http.get("/" + file.path)
                #expect(reply.statusCode == 200, "\(file.path)")
                #expect(reply.bytes == file.bytes, "\(file.path)")
                #expect(reply.fields["content-type"] == file.type)
                #expect(reply.fields["x-content-type-options"] == "nosniff")
                let policy = reply.fields["content-security-policy"] ?? ""
                #expect(policy.contains("default-src 'self'") && !policy.contains("unsafe"))
                #expect(reply.fields["access-control-allow-origin"] == (file.isLibrary ? "*" : nil))
                let again = try await gateway.http.send(
                    "GET", "/" + file.path, headers: [("If-None-Match", file.tag.text)])
                #expect(again.statusCode == 304)
                #expect(again.bytes.isEmpty)
            }
        }
    }

    @Test("the pages are there, without a service")
    func pages() async throws {
        try await RunningGateway.with { gateway in
            let titles = [
                "/": "<title>Lectern</title>", "/rooms/physics": "<title>Board · Lectern</title>",
                "/rooms/physics/teach": "<title>Teach · Lectern</title>",
                "/rooms/physics/clock": "<title>Clock · Lectern</title>",
                "/monitor": "<title>Monitor · Lectern</title>",
            ]
            for (path, title) in titles {
                let page = try await gateway.http.get(path)
                #expect(page.statusCode == 200, "\(path)")
                #expect(page.fields["content-type"] == "text/html; charset=utf-8")
                #expect(page.text.contains(title), "\(path)")
                // The policy would keep them from working.
                #expect(!page.text.contains("<style") && !page.text.contains(" style="), "\(path)")
                #expect(page.text.matches(of: /<script(?! type="module" src="\/)/).isEmpty, "\(path)")
            }
        }
    }

    @Test("a page, a style sheet or a script names only files that are there")
    func links() throws {
        for file in SiteRoutes.files.values {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: /["'`](\/(?:pages\/|lectern\/|lectern\.js)[a-z.\/-]*)/) {
                let path = String(match.1.dropFirst())
                #expect(SiteRoutes.files[path] != nil, "\(path) in \(file.path)")
            }
        }
    }

    @Test("a script imports only files that are there")
    func imports() throws {
        let pattern = /(?:from|import) "(\.{0,2}\/[^"]+)"/
        for file in SiteRoutes.files.values where file.path.hasSuffix(".js") {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: pattern) {
                let url = try #require(
                    URL(string: String(match.1), relativeTo: URL(string: "http://host/\(file.path)")))
                #expect(SiteRoutes.files[String(url.path.dropFirst())] != nil, "\(match.1) of \(file.path)")
            }
        }
    }
}
