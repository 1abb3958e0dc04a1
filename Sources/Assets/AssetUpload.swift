public import StrokeWire

/// How a file comes to the service over NATS: a request to begin, with the password of an encrypted PDF, then its bytes, part by part, each acknowledged before the
/// next is sent. Any daemon that keeps assets takes it, and is asked for the parts on a subject of its own.
///
/// A file that the service has already comes to a further room, with a copy of a page, by a request whose body is
/// `{"id":"9f86…"}`: the answer is its ``Summary``. It must come before the page's operations: an erasure of the other room
/// leaves the file then.
public enum AssetUpload {
    /// The subject of the request to begin, whose body is ``Begin``, and of that for a stored file.
    public static func subject(_ address: RoomAddress) -> String { address.subject(.assetInput) }

    /// All of those subjects.
    public static func subjects(root: String) -> String { "\(root).*.*.\(RoomSubject.assetInput)" }

    /// The daemons on those subjects share the uploads.
    public static let queue = "uploads"

    /// The subjects that one daemon takes parts on.
    /// - Parameter taker: a token of that daemon alone.
    public static func parts(root: String, taker: String) -> String { "\(root).uploads.\(taker).*" }

    /// The header of a part that says how many bytes come before it. A part without bytes is the end.
    public static let offsetHeader = "Ink-Offset"

    /// Bytes of a part at most.
    public static let partBytes = 192 << 10

    /// The body of a request to begin: `{"bytes":N}`.
    public struct Begin: Sendable, Hashable, Codable {
        /// Of the file; nil where the request is for a stored one.
        public let bytes: Int?
        /// Of an encrypted PDF. It is not kept: the file is stored without encryption.
        public let password: String?
        /// Of a stored file.
        public let id: String?

        public init(bytes: Int, password: String?) {
            (self.bytes, self.password, id) = (bytes, password, nil)
        }
    }

    /// Where the parts go: the answer to a request to begin.
    public struct Ticket: Sendable, Hashable, Codable {
        /// The subject of the parts.
        public let to: String
        /// Bytes of a part at most.
        public let part: Int

        public init(to: String, part: Int) {
            self.to = to
            self.part = part
        }
    }

    /// What is told of a stored asset: the answer to the last part, to the request for a stored file, and that of HTTP.
    public struct Summary: Sendable, Hashable, Codable {
        public let id: String
        /// The media type.
        public let type: String
        public let pages: Int
        /// Of the first page, in pixels or in points of a PDF.
        public let width: Double
        public let height: Double
        /// Width and height of every page, where they are not all as large as the first.
        public let sizes: [[Double]]?
        /// The pages without a size of their own, from 0: they are blank paper. Nil where there is none.
        public let blank: [Int]?

        public init(_ manifest: AssetManifest) {
            id = manifest.id.description
            type = manifest.format.mediaType
            pages = manifest.pages.count
            width = manifest.pages[0].width
            height = manifest.pages[0].height
            let all = manifest.pages.map { [$0.width, $0.height] }
            sizes = all.allSatisfy { $0 == all[0] } ? nil : all
            let blank = manifest.pages.indices.filter { manifest.pages[$0].box == .blank }
            self.blank = blank.isEmpty ? nil : blank
        }

        /// Its pages with their sizes; nil where the answer is not one that a service gives.
        public var asset: (id: AssetID, pages: [AssetPage])? {
            guard let id = AssetID(hexadecimal: id), 1...AssetLimits.pages ~= pages else { return nil }
            let sizes = sizes ?? Array(repeating: [width, height], count: pages)
            let found = sizes.compactMap { $0.count == 2 ? AssetPage(width: $0[0], height: $0[1]) : nil }
            return found.count == pages ? (id, found) : nil
        }
    }

    /// An answer that says why a file is not taken: `{"error":{"code":…,"message":…}}`.
    public struct Refusal: Sendable, Hashable, Codable {
        /// The code of the refusal, for programs, and a sentence for people.
        public struct Reason: Sendable, Hashable, Codable {
            public let code: String
            public let message: String
        }

        public let error: Reason

        public init(_ error: AssetError) {
            self.error = Reason(code: error.code, message: error.description)
        }
    }
}
