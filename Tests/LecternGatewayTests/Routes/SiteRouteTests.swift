import Foundation
import TestSupport
import Testing

@testable import LecternGateway

/// The folder of the site in this checkout.
enum SiteFolder {
    /// The bytes of its files, by their paths.
    static func files() throws -> [String: [UInt8]] {
        let folder = URL(filePath: PackageRoot.path(to: "Sources/Site")).resolvingSymlinksInPath()
        var files: [String: [UInt8]] = [:]
        for case let path as String in try #require(FileManager.default.enumerator(atPath: folder.path)) {
            // No folder.
            if let bytes = try? Data(contentsOf: folder.appending(path: path)) { files[path] = [UInt8](bytes) }
        }
        return files
    }
}

@Suite("Files for browsers") struct SiteRouteTests {
    @Test func `the program has every file of the site's folder, byte for byte, those of pages in bundles`() throws {
        let inBundles = /pages\/(?!needs\.js).*\.(js|css)/
        let files = try SiteFolder.files().filter { $0.key.wholeMatch(of: inBundles) == nil }
        // The core and the bundles are built.
        let built =
            SiteRoutes.files.keys.filter { $0.hasPrefix("bundles/") } + ["lectern/board.wasm", "lectern/lectern.wasm"]
        #expect(Set(files.keys).union(built) == Set(SiteRoutes.files.keys))
        for (path, bytes) in files { #expect(SiteRoutes.files[path]?.bytes == bytes, "\(path)") }
    }

    @Test func `each file is served with its type, an entity tag, and a policy that lets no script in`() async throws {
        try await RunningGateway.with { gateway in
            for file in SiteRoutes.files.values where !file.isPage {
                let addresses = [
                    ("/", "no-cache"), ("/assets/\(SiteRoutes.release)/", "public, max-age=31536000, immutable"),
                    ("/assets/another/", "no-cache"),
                ]
                for (folder, caching) in addresses {
                    let reply = try await gateway.http.get(folder + file.path)
                    #expect(reply.statusCode == 200, "\(file.path)")
                    #expect(reply.fields["cache-control"] == caching)
                    #expect(reply.fields["content-type"] == file.type)
                    #expect(reply.fields["x-content-type-options"] == "nosniff")
                    let policy = reply.fields["content-security-policy"] ?? ""
                    #expect(policy.contains("default-src 'self'; script-src 'self' 'wasm-unsafe-eval';"))
                    #expect(!policy.contains("'unsafe"))
                    #expect(reply.fields["access-control-allow-origin"] == (file.isLibrary ? "*" : nil))
                    // At its own address it names its modules below that of the release.
                    let isNamed = folder == "/" && file.isEntrance
                    #expect(isNamed || reply.bytes == file.bytes, "\(file.path)")
                }
            }
            for path in ["pages/start.html", "pages/none.js", "", "../lectern.js"] {
                #expect(try await gateway.http.get("/assets/\(SiteRoutes.release)/\(path)").statusCode == 404)
            }
        }
    }

    @Test(
        "the core is sent by brotli to those who take it, which is a fifth less, and is what they get without",
        arguments: ["lectern/board.wasm", "lectern/lectern.wasm"])
    func brotli(file: String) async throws {
        try await RunningGateway.with { gateway in
            let path = "/" + file
            var sizes: [String: Int] = [:]
            for (accepted, coding) in [
                ("gzip, deflate, br, zstd", "br"), ("gzip, br;q=0", "gzip"), ("identity", nil),
                ("br;q=abc, *;q=0.5", "gzip"), ("br;q=1.5, gzip;q=1.000", "gzip"), ("gzip;q=0x1, *;q=inf", nil),
            ] {
                let reply = try await gateway.http.send("GET", path, headers: [("Accept-Encoding", accepted)])
                #expect(reply.fields["content-encoding"] == coding)
                sizes[coding ?? "plain"] = Int(reply.fields["content-length"] ?? "")
            }
            let (br, gzip) = (try #require(sizes["br"]), try #require(sizes["gzip"]))
            #expect(br * 5 < gzip * 4)
            // URLSession takes brotli, and opens it.
            let reply = try await gateway.http.send("GET", path, headers: [("Accept-Encoding", "br")])
            #expect(reply.fields["content-encoding"] == "br")
            #expect(reply.bytes == SiteRoutes.files[file]?.bytes)
        }
    }

    @Test("a client that takes gzip gets a file compressed, with a tag of its own; one that has the file, nothing")
    func compressed() async throws {
        try await RunningGateway.with { gateway in
            for path in [
                "/", "/bundles/lectern.js", "/lectern/board.js", "/assets/\(SiteRoutes.release)/bundles/start.css",
            ] {
                let plain = try await gateway.http.send("GET", path, headers: [("Accept-Encoding", "identity")])
                // Foundation opens it again.
                let packed = try await gateway.http.send("GET", path, headers: [("Accept-Encoding", "gzip")])
                #expect(plain.fields["content-encoding"] == nil && packed.fields["content-encoding"] == "gzip")
                #expect(plain.bytes == packed.bytes)
                let lengths = [plain, packed].map { Int($0.fields["content-length"] ?? "") ?? 0 }
                #expect(lengths[0] == plain.bytes.count && lengths[1] > 0 && lengths[1] * 3 < lengths[0] * 2, "\(path)")
                let tags = [plain, packed].compactMap { $0.fields["etag"] }
                #expect(Set(tags).count == 2)
                for (coding, tag, other) in [("identity", tags[0], tags[1]), ("gzip", tags[1], tags[0])] {
                    let accept = ("Accept-Encoding", coding)
                    let known = try await gateway.http.send("GET", path, headers: [accept, ("If-None-Match", tag)])
                    #expect(known.statusCode == 304 && known.bytes.isEmpty && known.fields["etag"] == tag)
                    #expect(known.fields["vary"] == "Accept-Encoding")
                    let changed = try await gateway.http.send("GET", path, headers: [accept, ("If-None-Match", other)])
                    #expect(changed.statusCode == 200 && changed.bytes == plain.bytes)
                    #expect(changed.fields["vary"] == "Accept-Encoding")
                }
            }
        }
    }

    @Test func `the pages are there, without a service`() async throws {
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
                #expect(
                    page.text.matches(of: /<script(?! (?:type="module"|defer) src="[.a-z0-9\/-]+")/).isEmpty, "\(path)")
                #expect(!page.text.contains("assets/current/"), "\(path)")
            }
        }
    }

    @Test("a page, and a script of one, names nothing by the root of its host, and files that are there alone")
    func links() throws {
        for (path, bytes) in try SiteFolder.files() where path.hasPrefix("pages/") {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.matches(of: /["'`=]\/[a-z]+[\/."'`]/).isEmpty, "\(path)")
            #expect(path.hasSuffix(".js") || text.matches(of: /(?:href|src)="\//).isEmpty, "\(path)")
        }
        for (route, file) in SiteRoutes.pages {
            let page = try #require(URL(string: "http://host/board" + "\(route)".replacing(":room", with: "physics")))
            let links = String(decoding: file.bytes, as: UTF8.self).matches(of: /(?:href|src)="([^"?#]+)/)
            #expect(links.count > 5)
            let folder = "/board/assets/\(SiteRoutes.release)/"
            for link in links {
                let path = try #require(URL(string: String(link.1), relativeTo: page)).path
                let isFile = path.hasPrefix(folder) && SiteRoutes.files[String(path.dropFirst(folder.count))] != nil
                #expect(isFile || ["/board", "/board/", "/board/monitor"].contains(path), "\(link.1) in \(file.path)")
            }
        }
    }

    @Test func `an address of a page with a slash too many leads to the one without, below any path`() async throws {
        try await RunningGateway.with { gateway in
            for (path, target) in [
                ("/monitor/", "../monitor"), ("/rooms/physics/?replay", "../../rooms/physics?replay"),
                ("/rooms//physics/teach/", "../../../../rooms/physics/teach"), ("//", "../"),
            ] {
                let connection = try RawConnection(port: gateway.port)
                #expect(connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
                let answer = await connection.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 308"), "\(answer)")
                #expect(answer.lowercased().contains("location: \(target)\r\n"), "\(answer)")
            }
        }
    }

    @Test("a page loads few files: a bundle each of scripts and of styles, and no modules one after another")
    func bundles() throws {
        for (_, file) in SiteRoutes.pages {
            let text = String(decoding: file.bytes, as: UTF8.self)
            let name = file.path.dropFirst("pages/".count).dropLast(".html".count)
            let links = text.matches(of: /<(?:link|script)[^>]*(?:href|src)="[^"]*?assets\/[^\/"]+\/([^"?#]+)/).map {
                $0.1
            }
            let loaded = Set(links).subtracting([
                "pages/icon.svg", "pages/needs.js", "lectern/board.wasm", "lectern/lectern.wasm",
            ])
            #expect(loaded == ["bundles/\(name).js", "bundles/\(name).css"], "\(file.path)")
        }
        for file in SiteRoutes.files.values where file.path.hasPrefix("bundles/") && file.path.hasSuffix(".js") {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(text.matches(of: /(?:^|[;{}])import\b|\bimport\(/).isEmpty, "\(file.path)")
            // Students load nothing of the teacher, whose outbox has this name.
            let isTeacher = ["bundles/lectern.js", "bundles/teach.js"].contains(file.path)
            #expect(text.contains("lectern-outbox") == isTeacher, "\(file.path)")
        }
    }

    @Test func `a script imports only files that are there`() throws {
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
