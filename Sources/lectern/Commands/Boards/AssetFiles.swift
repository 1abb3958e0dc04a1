import ArgumentParser
import AssetOpener
import Assets
import Foundation
import Journal
import LecternClient
import Raster
import Scene
import StrokeWire
import VectorGraphics

/// Files that images of a lesson show, by their hashes.
struct AssetFiles {
    private struct File {
        let path: String
        var bytes: [UInt8]
        /// Nil until it was opened.
        var manifest: AssetManifest?
    }

    private var files: [AssetID: File] = [:]
    private let opener = AssetOpener()
    private let password: PasswordOptions
    private let givenPassword: String?

    /// Reads the files, or ends the command with status 1.
    init(_ paths: [String], _ password: PasswordOptions) async throws {
        self.password = password
        givenPassword = try password.given()
        for path in paths {
            var file = File(path: path, bytes: try endingCommand { try ImportFile.contents(of: path) })
            // A lesson names an encrypted file as the service has stored it.
            if givenPassword != nil, AssetFormat(file.bytes) == .pdf { file = try await opened(file) }
            files[AssetID(hashOf: file.bytes)] = file
        }
    }

    /// Opens a file, or ends the command with status 1.
    ///
    /// - Parameters:
    ///   - bytes: the file's.
    ///   - path: for messages.
    /// - Returns: the messages that make a page of each of its pages, in an empty room.
    mutating func add(_ bytes: [UInt8], path: String) async throws -> [[UInt8]] {
        let file = try await opened(File(path: path, bytes: bytes))
        files[AssetID(hashOf: file.bytes)] = file
        guard let manifest = file.manifest, let slides = SlideImport(AssetUpload.Summary(manifest)) else { return [] }
        let operations = slides.operations(onto: Array(slides.pages.indices), width: 1024, height: 768, at: nil)
        return operations.enumerated().flatMap { place, operation in
            var header = operation.header
            header.number = Int64(place + 1)
            return header.messages(interior: operation.interior).map(\.bytes)
        }
    }

    /// The file with its manifest and without encryption, as a service keeps it; asks for a password where none is given.
    private func opened(_ file: File) async throws -> File {
        do throws(AssetError) {
            return try await inspected(file)
        } catch {
            guard error == .needsPassword, let password = givenPassword ?? password.asked(for: file.path) else {
                throw failure(file, error)
            }
            return try await opened(file, with: password)
        }
    }

    private func opened(_ file: File, with password: String) async throws -> File {
        do throws(AssetError) {
            var file = file
            file.bytes = try await opener.decrypted(file.bytes, id: AssetID(hashOf: file.bytes), password: password)
            return try await inspected(file)
        } catch {
            throw failure(file, error)
        }
    }

    private func inspected(_ file: File) async throws(AssetError) -> File {
        var file = file
        file.manifest = try await opener.inspect(file.bytes, id: AssetID(hashOf: file.bytes))
        return file
    }

    private func failure(_ file: File, _ error: AssetError) -> ExitCode {
        StandardError.write("lectern: \(file.path): \(error.code): \(error)")
        return .failed
    }

    /// The pixels of what a picture shows, each wide enough for its largest image; without those whose file was not given. Ends
    /// the command with status 1 where a file cannot be opened.
    mutating func images(of picture: BoardPicture) async throws -> PageImages {
        var widths: [ImageSource: Double] = [:]
        let shown = picture.drawing.entries.compactMap { if case .image(let image) = $0.content { image } else { nil } }
        for image in shown + [picture.drawing.paper?.image].compactMap({ $0 }) {
            guard let source = image.asset, files[source.asset] != nil else { continue }
            let width = image.width * picture.scale
            // As the service fetches it, for the same pixels; a file may be larger.
            let fetched =
                width > Double(PlacedImage.fetchedWidths.upperBound)
                ? width.rounded(.up) : Double(PlacedImage.fetchedWidth(for: width))
            widths[source] = max(widths[source] ?? 1, fetched)
        }
        var images: PageImages = [:]
        for (source, width) in widths { images[source] = try await pixels(of: source, width: width) }
        return images
    }

    private mutating func pixels(of source: ImageSource, width: Double) async throws -> ImagePixels? {
        guard var file = files[source.asset] else { return nil }
        if file.manifest == nil {
            file = try await opened(file)
            files[source.asset] = file
        }
        guard let manifest = file.manifest, manifest.pages.indices.contains(source.page) else { return nil }
        do throws(AssetError) {
            let pixels = try await opener.pixels(
                file.bytes, manifest, page: source.page, width: Int(min(width, Double(AssetLimits.renderedWidth))))
            return ImagePixels(width: pixels.width, height: pixels.height, bytes: pixels.bytes)
        } catch {
            throw failure(file, error)
        }
    }
}
