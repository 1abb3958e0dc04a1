import Foundation
import TestSupport
import Testing

/// A program of other people that makes pixels of a vector format.
enum Rasteriser: String, CaseIterable {
    /// Of the Debian package librsvg2-bin.
    case svg = "rsvg-convert"
    /// Of the Debian package poppler-utils.
    case pdf = "pdftoppm"

    private var program: InstalledProgram? { InstalledProgram(rawValue) }

    var isInstalled: Bool { program != nil }

    /// The pictures of the document, one a page, one pixel a CSS pixel.
    func pictures(of document: [UInt8]) throws -> [Picture] {
        guard let program else { return [] }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("input")
        try Data(document).write(to: input)
        let arguments =
            switch self {
            case .svg: ["-o", folder.appendingPathComponent("1.png").path, input.path]
            // It moves level lines to whole pixels, which matters less on smaller pixels.
            case .pdf: ["-r", "384", "-png", input.path, folder.appendingPathComponent("page").path]
            }
        guard try program.run(arguments) != nil else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".png") }.sorted()
            .compactMap { Picture(png: folder.appendingPathComponent($0), averaging: self == .pdf ? 4 : 1) }
    }
}

extension Rasteriser {
    /// Cancels the test where the program is missing, and says so.
    func requireInstalled() throws {
        if !isInstalled { try Test.cancel("\(rawValue) is not installed") }
    }
}
