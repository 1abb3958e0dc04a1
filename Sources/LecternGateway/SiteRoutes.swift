internal import CSiteFiles
internal import Hummingbird
internal import NIOCore
internal import StrokeWire

/// The files for browsers: `lectern.js` with its modules, and the pages.
///
/// A page loads one script and one style sheet, its bundles, which the build makes of the modules: on a slow line each import in an
/// import is a round trip. `lectern.js` leads to such a bundle, too. Its modules are served as well, each by itself.
///
/// They are in the program itself, and served from memory, compressed where the client takes that. Pages and `lectern.js` name
/// their files below `assets/RELEASE/`, where RELEASE is a hash of all files: browsers keep those for a year and do not ask
/// again. Modules import each other by relative addresses, so that those of two releases do not come together. Whether anything
/// else has changed, browsers must ask each time (`no-cache` with an entity tag).
///
/// All links are relative: a proxy may serve the gateway below a path of its own.
struct SiteRoutes {
    struct File: Sendable {
        /// Its bytes in one content coding, and their tag.
        struct Body: Sendable {
            let bytes: ByteBuffer
            let tag: EntityTag

            init(_ bytes: [UInt8]) {
                self.bytes = ByteBuffer(bytes: bytes)
                tag = EntityTag(of: bytes)
            }
        }

        /// Below the folder of the site, such as `lectern/board.js`.
        let path: String
        let plain: Body
        let gzip: Body
        /// By brotli, where the build has made it: it takes seconds. A quarter less than by gzip.
        fileprivate(set) var brotli: Body?

        init(path: String, bytes: [UInt8]) {
            self.path = path
            plain = Body(bytes)
            gzip = Body(Deflater.gzip(bytes))
        }

        var bytes: [UInt8] { Array(plain.bytes.readableBytesView) }

        /// The body in the best content coding that a client takes, and the name of that; nil for none.
        func body(for request: Request) -> (body: Body, coding: String?) {
            if let brotli, request.accepts("br") { return (brotli, "br") }
            return request.accepts("gzip", or: "x-gzip") ? (gzip, "gzip") : (plain, nil)
        }

        /// The media type, by the extension of the path.
        var type: String {
            switch path.split(separator: ".").last {
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "html": "text/html; charset=utf-8"
            case "svg": "image/svg+xml"
            case "wasm": "application/wasm"
            case "json", "webmanifest": "application/json"
            default: "application/octet-stream"
            }
        }

        /// Whether it is a part of the library, which pages of other origins may load too: it holds nothing private.
        var isLibrary: Bool { isEntrance || path.hasPrefix("lectern/") || path.hasPrefix("bundles/") }

        /// Whether pages import it by a fixed address, which does not change with the release.
        var isEntrance: Bool { path == "lectern.js" || path == "lectern-board.js" }

        var isPage: Bool { path.hasSuffix(".html") }

        /// The file with other text in places.
        fileprivate func replacing(_ old: String, with new: String) -> File {
            File(path: path, bytes: Array(String(decoding: bytes, as: UTF8.self).replacing(old, with: new).utf8))
        }
    }

    /// All files as they are in the folder, by their paths.
    static let files: [String: File] = {
        var files: [String: File] = [:]
        for number in 0..<site_file_count() {
            let file = site_file_at(number)
            let bytes = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.size))
            let path = String(cString: file.path)
            files[path] = File(path: path, bytes: bytes)
            guard let brotli = file.brotli else { continue }
            files[path]?.brotli = File.Body([UInt8](UnsafeBufferPointer(start: brotli, count: file.brotli_size)))
        }
        return files
    }()

    /// A hash of all files.
    static let release: String = {
        let texts = files.values.map { "\($0.path) \($0.plain.tag.text)\n" }.sorted()
        return String(FNV1a64.hash(Array(texts.joined().utf8)), radix: 16)
    }()

    /// The pages, by their routes. A page needs no token: its script asks for what does.
    static let pages: [(route: RouterPath, file: File)] = [
        ("/", "start"), ("rooms/:room", "student"), ("rooms/:room/teach", "teach"), ("rooms/:room/clock", "clock"),
        ("monitor", "monitor"),
    ].compactMap { (route, name) in
        guard let file = files["pages/\(name).html"] else { return nil }
        return (RouterPath(route), file.replacing("assets/current/", with: "assets/\(release)/"))
    }

    /// What other pages import by a fixed address: it leads to the bundle of this release.
    private static let entrances = files.filter { $0.value.isEntrance }
        .mapValues { file in
            File(path: file.path, bytes: Array("export * from \"./assets/\(release)/bundles/\(file.path)\";\n".utf8))
        }

    let live: LiveSettings

    private static let plainPolicy =
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'none'; base-uri 'none'"
    private static let referrerPolicy = HTTPFields.Element.Name("Referrer-Policy")!

    /// Neither a script in a page nor another page around it, but the core as WebAssembly; videos, and the requests of players, by origin. Where no
    /// token is needed nothing is to be protected from a video's server: unless origins are named, all may serve videos.
    private func policy(_ values: LiveSettings.Values) -> String {
        guard values.tokenKey == nil || !values.mediaOrigins.isEmpty else { return Self.plainPolicy }
        let origins = values.mediaOrigins.isEmpty ? "http: https:" : values.mediaOrigins.joined(separator: " ")
        return "\(Self.plainPolicy); media-src 'self' blob: \(origins); connect-src 'self' \(origins)"
    }

    /// A page that is made for its request.
    static func page(_ html: String, status: HTTPResponse.Status) -> Response {
        var headers: HTTPFields = [.contentSecurityPolicy: plainPolicy, .vary: "Accept"]
        headers[referrerPolicy] = "no-referrer"
        return .body(html.utf8, type: "text/html; charset=utf-8", status: status, headers: headers)
    }

    func add(to router: Router<some RequestContext>) {
        for file in Self.files.values where !file.isPage {
            let file = Self.entrances[file.path] ?? file
            router.get(RouterPath(file.path)) { request, _ in response(file, to: request) }
        }
        router.get("assets/:release/**") { request, context in
            let path = context.parameters.getCatchAll().joined(separator: "/")
            guard let file = Self.files[path], !file.isPage else { throw GatewayError.notFound }
            // Of another release when gateways are being replaced: better the file of this one than none, but not for a year.
            return response(file, to: request, isForEver: context.parameters.get("release") == Self.release)
        }
        router.get("language.json") { request, _ in
            let asked = request.text("language") ?? request.headers[.acceptLanguage] ?? ""
            return response(
                live.values.languages.file(for: asked), to: request, vary: "Accept-Encoding, Accept-Language")
        }
        router.get("languages.json") { request, _ in response(live.values.languages.list, to: request) }
        for (route, file) in Self.pages {
            router.get(route) { request, _ in
                request.redirectToPlainPath() ?? response(file, to: request)
            }
        }
    }

    private func response(
        _ file: File, to request: Request, isForEver: Bool = false, vary: String = "Accept-Encoding"
    ) -> Response {
        let (body, coding) = file.body(for: request)
        var headers: HTTPFields = [
            .eTag: body.tag.text, .cacheControl: isForEver ? "public, max-age=31536000, immutable" : "no-cache",
            .contentSecurityPolicy: policy(live.values), .vary: vary,
        ]
        headers[Self.referrerPolicy] = "no-referrer"
        if file.isLibrary { headers[.accessControlAllowOrigin] = "*" }
        if let known = request.headers[.ifNoneMatch], body.tag.matches(known) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.type
        headers[.xContentTypeOptions] = "nosniff"
        headers[.contentEncoding] = coding
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body.bytes))
    }
}

extension Request {
    /// A relative address that leads from the address of this request to the root of the gateway, whichever path a proxy has it
    /// at: `../../` from `/rooms/physics/teach`.
    var pathToRoot: String {
        String(repeating: "../", count: max(uri.path.count { $0 == "/" } - 1, 0))
    }

    /// Leads from a path with a slash too many, such as `/rooms/physics/`, to the one without, from which relative links lead where
    /// they should; nil where there is none.
    func redirectToPlainPath() -> Response? {
        let parts = uri.path.split(separator: "/")
        guard uri.path != "/" + parts.joined(separator: "/") else { return nil }
        let query = uri.query.map { "?\($0)" } ?? ""
        let path = pathToRoot + parts.joined(separator: "/") + query
        return Response(status: .permanentRedirect, headers: [.location: path])
    }
}
