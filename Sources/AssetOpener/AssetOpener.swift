public import Assets
internal import CAssetOpener
internal import Dispatch
internal import Locking
public import StrokeWire

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Opens files that are not trusted, each in a child process of its own, one at a time.
///
/// The child is this program again, so that there is one file to install, and an upgrade cannot pair two that do not fit. It
/// gives up all that it does not need before it looks at the first byte: it cannot open sockets, start processes, change
/// files or, for images, open any; processor time, address space, descriptors and wall-clock time are bounded, and it ends
/// with this process. Images are decoded by libspng, libjpeg-turbo, libwebp and libheif; for PDFs it becomes poppler's `pdfinfo` or `pdftoppm`,
/// or `qpdf`, which keep those bounds. Where the kernel grants no such sandbox nothing is opened.
///
/// Safe from any task. Waiting files are bounded in number; the caller bounds their bytes.
public final class AssetOpener: Sendable {
    /// What the opening of one file may take.
    public struct Bounds: Sendable, Equatable {
        /// Bytes of the child's address space.
        public var memory = 1 << 30
        /// Processor time, in whole seconds.
        public var processorTime: Duration = .seconds(20)
        /// Wall-clock time.
        public var time: Duration = .seconds(30)
        /// Files that wait while one is opened.
        public var waiting = 16

        /// Bounds with the defaults above.
        public init() {}
    }

    /// The first argument of this program where it is a child. See ``runChild(_:)``.
    public static let command = "open-asset"

    /// Whether the kernel (Landlock, Linux 5.13) keeps a reader of PDFs from all files but programs, libraries and fonts. Else
    /// one that is taken over could read what this process's user may, and show it in a picture.
    public static var restrictsFiles: Bool { lectern_asset_restricts_files() }

    private let program: String
    private let bounds: Bounds
    /// A child is ended when the thread that has started it ends: this one blocks until the child has ended.
    private let queue = DispatchQueue(label: "asset-opener")
    private let waiting = Locked(0)

    /// - Parameter program: one that calls ``runChild(_:)`` where its first argument is ``command``.
    public init(program: String = "/proc/self/exe", bounds: Bounds = Bounds()) {
        self.program = program
        self.bounds = bounds
    }

    /// Is the child: reads a file from standard input and ends the process. To be called before anything else is done.
    /// - Parameter arguments: those after ``command``.
    public static func runChild(_ arguments: some Sequence<String>) -> Never {
        let arguments = arguments.map { strdup($0) }
        lectern_asset_child(Int32(arguments.count), arguments)
    }

    /// Reads a file as a whole and tells its pages.
    ///
    /// - Throws: `.unreadable` with a reason; `.needsPassword`; `.tooLarge`; `.noSandbox`; `.busy`.
    public func inspect(_ bytes: [UInt8], id: AssetID) async throws(AssetError) -> AssetManifest {
        guard bytes.count <= AssetLimits.bytes else { throw .tooLarge("it has \(bytes.count) bytes") }
        guard let format = AssetFormat(bytes) else { throw .unreadable("it is none of PNG, JPEG, WebP, HEIC and PDF") }
        let request = ChildRequest(operation: .inspect, format: format, page: AssetLimits.pages - 1)
        let output = try await run(request, bytes)
        let pages = format == .pdf ? try PDFInfo.pages(output) : try [page(output)]
        guard let manifest = AssetManifest(id: id, format: format, bytes: bytes.count, pages: pages) else {
            throw .unreadable("it has no pages")
        }
        return manifest
    }

    /// The same PDF without encryption, for good: who stores it needs no password again.
    ///
    /// - Parameter password: one of the user's or the owner's; at most ``AssetLimits/passwordBytes`` in UTF-8.
    /// - Returns: the same bytes each time; the file as it is where it can be read without a password, or is no PDF.
    /// - Throws: `.needsPassword` for a wrong one; else as ``inspect(_:id:)``.
    public func decrypted(_ bytes: [UInt8], id: AssetID, password: String) async throws(AssetError) -> [UInt8] {
        guard bytes.count <= AssetLimits.bytes, AssetFormat(bytes) == .pdf else { return bytes }
        do throws(AssetError) {
            _ = try await inspect(bytes, id: id)
            return bytes
        } catch .needsPassword {
            // Its reader takes one line.
            guard password.utf8.count <= AssetLimits.passwordBytes, !password.contains(where: \.isNewline) else {
                throw .needsPassword
            }
            var request = ChildRequest(operation: .decrypt, format: .pdf, page: 0)
            request.password = password
            return try await run(request, bytes)
        }
    }

    /// Renders a page as a PNG file.
    ///
    /// - Parameters:
    ///   - bytes: the asset's.
    ///   - page: from 0; one of the manifest's.
    ///   - width: in pixels; see ``AssetPage/renderedSize(width:of:)``.
    /// - Throws: as ``inspect(_:id:)``; `.unknown` where there is no such page.
    public func png(
        _ bytes: [UInt8], _ manifest: AssetManifest, page: Int, width: Int
    ) async throws(AssetError) -> [UInt8] {
        let (file, size) = try await render(bytes, manifest, page, width, as: .png)
        guard let found = PixelOutput.size(ofPNG: file), found == size else {
            throw .unreadable("its reader gave no picture")
        }
        return file
    }

    /// Renders a page for a canvas.
    ///
    /// - Parameters: as of ``png(_:_:page:width:)``.
    /// - Throws: as ``png(_:_:page:width:)``.
    public func pixels(
        _ bytes: [UInt8], _ manifest: AssetManifest, page: Int, width: Int
    ) async throws(AssetError) -> AssetPixels {
        let (output, size) = try await render(bytes, manifest, page, width, as: .pixels)
        let pixels = manifest.format == .pdf ? PixelOutput.ppm(output) : PixelOutput.premultiplied(output)
        guard let pixels, pixels.width == size.width, pixels.height == size.height else {
            throw .unreadable("its reader gave no picture")
        }
        return pixels
    }

    private func render(
        _ bytes: [UInt8], _ manifest: AssetManifest, _ page: Int, _ width: Int, as operation: ChildRequest.Operation
    ) async throws(AssetError) -> (output: [UInt8], size: (width: Int, height: Int)) {
        guard manifest.pages.indices.contains(page) else { throw .unknown }
        let sides = manifest.pages[page]
        let size = sides.renderedSize(width: width, of: manifest.format)
        var request = ChildRequest(
            operation: operation, format: manifest.format, page: page, width: size.width, height: size.height,
            resolution: (72 * Double(size.width) / sides.width, 72 * Double(size.height) / sides.height),
            showsMediaBox: sides.box != .crop)
        guard sides.box == .blank else { return (try await run(request, bytes), size) }
        request.page = 0
        return (try await run(request, BlankPDF.page(sides)), size)
    }

    private func page(_ output: [UInt8]) throws(AssetError) -> AssetPage {
        let sides = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
            Int($0).map(Double.init)
        }
        guard sides.count == 2, let page = AssetPage(width: sides[0], height: sides[1]) else {
            throw .unreadable("its reader gave no size")
        }
        return page
    }

    /// Runs a child when those before it have ended.
    private func run(_ request: ChildRequest, _ bytes: [UInt8]) async throws(AssetError) -> [UInt8] {
        let isFree = waiting.withLock { waiting in
            guard waiting <= bounds.waiting else { return false }
            waiting += 1
            return true
        }
        guard isFree else { throw .busy }
        let isCancelled = Locked(false)
        let result: Result<[UInt8], AssetError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    let result = Result { () throws(AssetError) in
                        var child = try OpenerProcess(program, request, bytes, bounds)
                        return try child.output { isCancelled.withLock { $0 } }
                    }
                    waiting.withLock { $0 -= 1 }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }
}
