/// The formats of files that can be placed on boards.
public enum AssetFormat: String, Sendable, Hashable, CaseIterable {
    case png
    case jpeg
    case webp
    case heic
    case pdf

    /// The format that the first bytes tell; nil for any other. Whether the rest can be read is not looked at.
    ///
    /// Only the bytes count: names and types that clients give are often wrong.
    public init?(_ bytes: some Collection<UInt8>) {
        // PNG (ISO 15948), 5.2. JPEG (ISO 10918-1), B.1: start of image, then another marker.
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if Self.isHEIC(bytes.prefix(Self.brandBytes)) {
            self = .heic
        } else if Self.hasPDFHeader(bytes.prefix(Self.pdfHeaderBytes)) {
            self = .pdf
        } else {
            return nil
        }
    }

    /// The brands of a file type box (ISO 14496-12, 4.3) are looked at in so many bytes.
    private static let brandBytes = 256

    /// Whether a file is of pictures coded by HEVC (ISO 23008-12, B.4), among them what phones take.
    private static func isHEIC(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count >= 16, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
        let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        // The main brand, its version, then those that it is compatible with.
        let brands = stride(from: 8, through: min(size, bytes.count) - 4, by: 4).filter { $0 != 12 }
        return brands.contains {
            ["heic", "heix", "heim", "heis"].contains(String(decoding: bytes[$0..<$0 + 4], as: UTF8.self))
        }
    }

    /// Readers of PDF look for its header in so many bytes, as some programs write something else before it.
    private static let pdfHeaderBytes = 1024

    private static func hasPDFHeader(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = bytes[...]
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[percent...]
            if rest.starts(with: "%PDF-".utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    /// The media type, as in HTTP.
    public var mediaType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .webp: "image/webp"
        case .heic: "image/heic"
        case .pdf: "application/pdf"
        }
    }

    /// - Parameter mediaType: as ``mediaType`` gives it; anything else gives nil.
    public init?(mediaType: String) {
        guard let format = Self.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = format
    }
}

/// Bounds of one asset, the same for all services.
public enum AssetLimits {
    /// Bytes of a file: 50 MiB.
    public static let bytes = 50 << 20
    /// Pages of a file.
    public static let pages = 500
    /// Pixels of a page; of a PDF, points of a page: width times height.
    public static let pagePixels = 100_000_000
    /// Columns of a rendered page.
    public static let renderedWidth = 4096
    /// Pixels of a rendered page: 64 MiB of them.
    public static let renderedPixels = 1 << 24
    /// Bytes of the password of a PDF.
    public static let passwordBytes = 1024
    /// Bytes of a part in the store.
    public static let partBytes = 256 << 10
}

/// The size of a page: in pixels of an image, as it is to be seen; in points, 1/72 inch, of a PDF.
public struct AssetPage: Sendable, Hashable {
    /// What of a page of a PDF is shown.
    public enum Box: Int, Sendable {
        case crop
        /// The crop box is empty.
        case media
        /// The page has no size of its own: it is blank paper.
        case blank
    }

    public let width: Double
    public let height: Double
    public let box: Box

    /// Nil where a side is not a positive number, or a side or the page is larger than ``AssetLimits/pagePixels``.
    public init?(width: Double, height: Double, box: Box = .crop) {
        // Either side may come from a child that is taken over, as 1e300 by 1e-300.
        let most = Double(AssetLimits.pagePixels)
        guard width > 0, height > 0, width <= most, height <= most, width * height <= most else { return nil }
        self.width = width
        self.height = height
        self.box = box
    }

    /// Whether it has whole pixels, as images have.
    var isWhole: Bool { width == width.rounded() && height == height.rounded() && box == .crop }

    /// Blank paper of the same size.
    public var blank: AssetPage {
        AssetPage(unchecked: (width, height), .blank)
    }

    private init(unchecked size: (width: Double, height: Double), _ box: Box) {
        (width, height) = size
        self.box = box
    }

    /// The form of a page in JSON: width and height, and of a page that does not show its crop box a third number.
    var numbers: [Double] { [width, height] + (box == .crop ? [] : [Double(box.rawValue)]) }

    /// Nil for other numbers than ``numbers`` gives.
    init?(numbers: [Double]) {
        guard 2...3 ~= numbers.count, let code = Int(exactly: numbers.count == 3 ? numbers[2] : 0),
            let box = Box(rawValue: code)
        else { return nil }
        self.init(width: numbers[0], height: numbers[1], box: box)
    }

    /// The size in pixels of a picture of this page.
    ///
    /// - Parameters:
    ///   - width: what is wanted, 1 … ``AssetLimits/renderedWidth``.
    ///   - format: an image is never rendered larger than it is.
    /// - Returns: the page's shape; fewer columns where there would be more pixels than ``AssetLimits/renderedPixels``.
    public func renderedSize(width wanted: Int, of format: AssetFormat) -> (width: Int, height: Int) {
        var columns = min(max(wanted, 1), AssetLimits.renderedWidth)
        if format != .pdf { columns = min(columns, max(Int(width), 1)) }
        func rows(_ columns: Int) -> Int {
            Int(min(max((Double(columns) * height / width).rounded(), 1), 1e9))
        }
        if columns * rows(columns) > AssetLimits.renderedPixels {
            columns = max(Int((Double(AssetLimits.renderedPixels) * width / height).squareRoot()), 1)
        }
        // A page of less than one column has as many rows as are allowed.
        return (columns, min(rows(columns), AssetLimits.renderedPixels / columns))
    }
}

/// Pixels of a rendered page.
public struct AssetPixels: Sendable, Equatable {
    public let width: Int
    public let height: Int
    /// Rows from the top; of each pixel red, green and blue, times alpha, and alpha.
    public let bytes: [UInt8]

    /// - Precondition: four bytes a pixel.
    public init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(width > 0 && height > 0 && bytes.count == width * height * 4)
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}
