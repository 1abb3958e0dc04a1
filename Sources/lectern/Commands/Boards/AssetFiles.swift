import ArgumentParser
import AssetOpener
import Assets
import Foundation
import Journal
import Raster
import StrokeWire
import VectorGraphics

/// Files that images of a lesson show, by their hashes.
struct AssetFiles {
    private struct File {
        let path: String
        let bytes: [UInt8]
    }

    private let files: [AssetID: File]
    private let opener = AssetOpener()

    /// Reads the files, or ends the command with status 1.
    init(_ paths: [String]) throws {
        var files: [AssetID: File] = [:]
        for path in paths {
            do {
                let file = File(path: path, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
                files[AssetID(hashOf: file.bytes)] = file
            } catch {
                StandardError.write("lectern: cannot read \(path)")
                throw ExitCode.failed
            }
        }
        self.files = files
    }

    /// The pixels of what a picture shows, each as wide as its largest image; without those whose file was not given. Ends
    /// the command with status 1 where a file cannot be opened.
    func images(of picture: BoardPicture) async throws -> PageImages {
        var widths: [ImageSource: Double] = [:]
        for entry in picture.drawing.entries {
            guard case .image(let image) = entry.content, files[image.source.asset] != nil else { continue }
            let width = image.width * picture.scale
            widths[image.source] = max(widths[image.source] ?? 1, width.rounded(.up))
        }
        var images: PageImages = [:]
        for (source, width) in widths { images[source] = try await pixels(of: source, width: width) }
        return images
    }

    private func pixels(of source: ImageSource, width: Double) async throws -> ImagePixels? {
        guard let file = files[source.asset] else { return nil }
        do throws(AssetError) {
            let manifest = try await opener.inspect(file.bytes, id: source.asset)
            guard manifest.pages.indices.contains(source.page) else { return nil }
            let pixels = try await opener.pixels(
                file.bytes, manifest, page: source.page, width: Int(min(width, Double(AssetLimits.renderedWidth))))
            return ImagePixels(width: pixels.width, height: pixels.height, bytes: pixels.bytes)
        } catch {
            StandardError.write("lectern: \(file.path): \(error)")
            throw ExitCode.failed
        }
    }
}
