import AssetOpener
import Assets
import Foundation
import TestSupport
import Testing

/// WebP and HEIC as Debian's programs make them.
@Suite(.serialized) struct PhonePictureTests {
    /// A program that makes files of a format from PNG files.
    fileprivate struct Encoder: Sendable, CustomStringConvertible {
        let format: AssetFormat
        let path: String
        /// Before the names of the PNG file, `-o`, and the name of the file that is made.
        let options: [String]

        var description: String { format.rawValue }

        static let installed = [
            Encoder(format: .webp, path: "/usr/bin/cwebp", options: ["-quiet", "-lossless", "-exact"]),
            Encoder(format: .heic, path: "/usr/bin/heif-enc", options: ["-q", "95", "-p", "chroma=444"]),
        ].filter { FileManager.default.isExecutableFile(atPath: $0.path) }

        func file(_ image: SampleImage) throws -> [UInt8] {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pictures-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (png, made) = (folder.appendingPathComponent("a.png"), folder.appendingPathComponent("a.\(format)"))
            try Data(SamplePNG.file(image)).write(to: png)
            let arguments = options + [png.path, "-o", made.path]
            guard try InstalledProgram(path: path)?.run(arguments) != nil else { throw Unexpected("\(path) failed") }
            return Array(try Data(contentsOf: made))
        }
    }

    private static let areThere = !Encoder.installed.isEmpty

    /// Left red, right blue, the lower half of it green.
    private static let image = SampleImage(width: 96, height: 64) { x, y in
        x < 48 ? [220, 30, 30, 255] : y < 32 ? [30, 30, 220, 255] : [30, 200, 30, 255]
    }

    @Test(.enabled(if: areThere, "needs webp or libheif-examples"), arguments: Encoder.installed)
    fileprivate func `A picture has its size, its colours, and is reduced`(_ encoder: Encoder) async throws {
        let opener = try Opening.opener()
        let file = try encoder.file(Self.image)
        let manifest = try await opener.inspect(file)
        #expect(manifest.format == encoder.format)
        #expect(manifest.pages == [AssetPage(width: 96, height: 64)])
        for width in [96, 24, 4096] {
            let pixels = try await opener.pixels(file, manifest, page: 0, width: width)
            #expect(pixels.width == min(width, 96) && pixels.height == pixels.width * 2 / 3)
            let (x, y) = (pixels.width, pixels.height)
            for (place, colour) in [
                ((x / 4, y / 2), [220, 30, 30, 255]), ((3 * x / 4, y / 4), [30, 30, 220, 255]),
                ((3 * x / 4, 3 * y / 4), [30, 200, 30, 255]),
            ] {
                let worst = zip(pixels[place.0, place.1], colour).map { abs($0 - $1) }.max() ?? 255
                #expect(worst <= (encoder.format == .webp ? 0 : 6), "\(place) is \(pixels[place.0, place.1])")
            }
        }
        let picture = try await opener.png(file, manifest, page: 0, width: 40)
        #expect(try await opener.inspect(picture).pages == [AssetPage(width: 40, height: 27)])
    }

    @Test(.enabled(if: areThere, "needs webp or libheif-examples"), arguments: Encoder.installed)
    fileprivate func `A file that is cut off or damaged is refused, or shows something`(_ encoder: Encoder) async throws
    {
        let opener = try Opening.opener()
        let file = try encoder.file(Self.image)
        for share in 1...9 {
            let refusal = try await opener.refusal(Array(file.prefix(file.count * share / 10)))
            guard case .unreadable? = refusal else {
                throw Unexpected("\(share) tenths: \(String(describing: refusal))")
            }
        }
        for var random in TestSeed.generators(24) {
            var damaged = file
            // The bytes that tell the format stay.
            for _ in 0..<random.int(1...8) { damaged[random.int(32..<file.count)] = UInt8(random.int(0...255)) }
            #expect(try await opener.refusal(damaged)?.isOfFile != false, "seed \(random.seed)")
        }
    }

    @Test(.enabled(if: areThere, "needs webp or libheif-examples"), arguments: Encoder.installed)
    fileprivate func `A picture that says that it has too many pixels is not decoded`(_ encoder: Encoder) async throws {
        var file: [UInt8]
        if encoder.format == .webp {
            // 16,383 by 16,383, as the head of the lossless form says it.
            file = Array("RIFF".utf8) + [30, 0, 0, 0] + Array("WEBPVP8L".utf8) + [18, 0, 0, 0, 0x2F]
            file += [0xFE, 0xBF, 0xFF, 0x0F] + Array(repeating: 0, count: 14)
        } else {
            file = try encoder.file(Self.image)
            // The box of the picture's size: version and flags, width, height.
            let box = Array("ispe".utf8)
            let place = try #require(file.indices.dropLast(16).first { file[$0..<$0 + 4].elementsEqual(box) })
            file.replaceSubrange(place + 8..<place + 16, with: [0, 0, 0x40, 0, 0, 0, 0x40, 0])
        }
        guard case .tooLarge(let reason)? = try await Opening.opener().refusal(file) else {
            throw Unexpected("\(String(describing: try await Opening.opener().refusal(file)))")
        }
        #expect(reason.hasPrefix("it has 16"), "\(reason)")
    }
}
