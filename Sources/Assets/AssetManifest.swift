public import StrokeWire

/// The description of a stored asset. It is stored after all parts of the asset, so its presence shows that the asset is complete.
public struct AssetManifest: Sendable, Hashable {
    /// The asset.
    public let id: AssetID
    public let format: AssetFormat
    /// Bytes of the file.
    public let bytes: Int
    /// The sizes of its pages, in order: one of an image, in whole pixels, 1 … ``AssetLimits/pages`` of a PDF.
    public let pages: [AssetPage]

    /// Nil where the limits do not hold.
    public init?(id: AssetID, format: AssetFormat, bytes: Int, pages: [AssetPage]) {
        let most = format == .pdf ? AssetLimits.pages : 1
        guard 1...AssetLimits.bytes ~= bytes, 1...most ~= pages.count,
            format == .pdf || pages.allSatisfy(\.isWhole)
        else { return nil }
        self.id = id
        self.format = format
        self.bytes = bytes
        self.pages = pages
    }
}

/// The form of a manifest in the store: `{"bytes":9,"id":"…","pages":[[595.276,841.89]],"type":"application/pdf"}`.
extension AssetManifest: Codable {
    private enum Key: String, CodingKey {
        case id, bytes, pages
        case mediaType = "type"
    }

    /// - Throws: `DecodingError` where a field is missing, or a limit does not hold.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let sizes = try fields.decode([[Double]].self, forKey: .pages)
        let pages = sizes.compactMap(AssetPage.init(numbers:))
        guard let id = AssetID(hexadecimal: try fields.decode(String.self, forKey: .id)),
            let format = AssetFormat(mediaType: try fields.decode(String.self, forKey: .mediaType)),
            pages.count == sizes.count,
            let manifest = Self(
                id: id, format: format, bytes: try fields.decode(Int.self, forKey: .bytes), pages: pages)
        else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no manifest of an asset"))
        }
        self = manifest
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(id.description, forKey: .id)
        try fields.encode(format.mediaType, forKey: .mediaType)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(pages.map(\.numbers), forKey: .pages)
    }
}

/// Why an asset is refused or cannot be had. The code is what clients get.
public enum AssetError: Error, Sendable, Hashable {
    /// The file is of no known format, or cannot be read; the reason is for people.
    case unreadable(String)
    /// The file is encrypted, and there was no password, or a wrong one.
    case needsPassword
    /// The file, its pages or what it takes to read it is beyond a limit.
    case tooLarge(String)
    /// The service's store has no space for it.
    case full
    /// The room's assets have as many bytes as a room may have.
    case roomFull(limit: Int64)
    /// The service keeps nothing.
    case noJournal
    /// Files cannot be opened safely on this machine, so none is.
    case noSandbox(String)
    /// Too many files wait to be opened.
    case busy
    /// There is no such asset or no such page, or it must not be seen.
    case unknown
    /// The store does not answer.
    case unavailable

    /// The code of replies.
    public var code: String {
        switch self {
        case .unreadable: "unreadable"
        case .needsPassword: "needs-password"
        case .tooLarge: "too-large"
        case .full, .roomFull: "assets-full"
        case .noJournal: "no-journal"
        case .noSandbox: "no-sandbox"
        case .busy: "not-ready"
        case .unknown: "unknown-asset"
        case .unavailable: "not-ready"
        }
    }
}

extension AssetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let reason): "The file cannot be read: \(reason)."
        case .needsPassword: "The file is encrypted; its password is needed."
        case .tooLarge(let reason): "The file is too large: \(reason)."
        case .full: "The service has no space for more assets (assets.max_bytes)."
        case .roomFull(let limit):
            "The room has no space for this asset: it may have \(limit) bytes (assets.room_bytes)."
        case .noJournal: "Assets need a journal; this service runs with journal.mode none."
        case .noSandbox(let reason): "Files cannot be opened safely here: \(reason)."
        case .busy: "Too many files wait to be opened; try again."
        case .unknown: "There is no such page of an asset."
        case .unavailable: "The store of assets does not answer; try again."
        }
    }
}
