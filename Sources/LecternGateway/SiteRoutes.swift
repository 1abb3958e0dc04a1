internal import CSite
internal import Hummingbird

/// The files for browsers: `lectern.js` with its modules, and the pages.
///
/// They are in the program itself, and served from memory. Browsers may keep them, but must ask each time whether they have
/// changed (`no-cache` with an entity tag): modules of two releases never come together.
struct SiteRoutes {
    /// A file of the site.
    struct File: Sendable {
        /// Below the folder of the site, such as `lectern/board.js`.
        let path: String
        let bytes: [UInt8]
        let tag: EntityTag

        /// The media type, by the extension of the path.
        var type: String {
            switch path.split(separator: ".").last {
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "html": "text/html; charset=utf-8"
            case "svg": "image/svg+xml"
            case "json", "webmanifest": "application/json"
            default: "application/octet-stream"
            }
        }

        /// Whether it is a part of the library, which pages of other origins may load too: it holds nothing private.
        var isLibrary: Bool { path == "lectern.js" || path.hasPrefix("lectern/") }
    }

    /// All files, by their paths.
    static let files: [String: File] = {
        var files: [String: File] = [:]
        for number in 0..<site_file_count() {
            let file = site_file_at(number)
            let bytes = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.size))
            let path = String(cString: file.path)
            files[path] = File(path: path, bytes: bytes, tag: EntityTag(of: bytes))
        }
        return files
    }()

    /// The pages, by their routes. A page needs no token: its script asks for what does.
    static let pages: [(route: RouterPath, path: String)] = [
        ("/", "pages/start.html"),
        ("rooms/:room", "pages/student.html"),
        ("rooms/:room/teach", "pages/teach.html"),
        ("rooms/:room/clock", "pages/clock.html"),
        ("monitor", "pages/monitor.html"),
    ]

    let live: LiveSettings

    private static let referrerPolicy = HTTPFields.Element.Name("Referrer-Policy")!

    /// Neither a script in a page nor another page around it; videos, and the requests of players, by origin.
    private func policy(_ mediaOrigins: [String]) -> String {
        let policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"
        guard !mediaOrigins.isEmpty else { return policy }
        let origins = mediaOrigins.joined(separator: " ")
        return "\(policy); media-src 'self' blob: \(origins); connect-src 'self' \(origins)"
    }

    func add(to router: Router<some RequestContext>) {
        for file in Self.files.values { add(file, at: RouterPath(file.path), to: router) }
        for page in Self.pages {
            guard let file = Self.files[page.path] else { continue }
            add(file, at: page.route, to: router)
        }
    }

    private func add(_ file: File, at path: RouterPath, to router: Router<some RequestContext>) {
        router.get(path) { request, _ in
            var headers: HTTPFields = [
                .eTag: file.tag.text, .cacheControl: "no-cache",
                .contentSecurityPolicy: policy(live.values.mediaOrigins),
            ]
            headers[Self.referrerPolicy] = "no-referrer"
            if file.isLibrary { headers[.accessControlAllowOrigin] = "*" }
            if let known = request.headers[.ifNoneMatch], file.tag.matches(known) {
                return Response(status: .notModified, headers: headers)
            }
            return Response.body(file.bytes, type: file.type, headers: headers)
        }
    }
}
