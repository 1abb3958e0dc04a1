import CJPEG
import CZlib
import TestSupport

/// Pixels with straight alpha, and files that show them.
struct SampleImage {
    let width: Int
    let height: Int
    /// R G B A, rows from the top.
    var pixels: [UInt8]

    init(width: Int, height: Int, _ pixel: (Int, Int) -> [UInt8]) {
        self.width = width
        self.height = height
        pixels = (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
    }

    /// Any pixels; opaque ones, or of any alpha.
    static func random(width: Int, height: Int, opaque: Bool, _ generator: inout SeededGenerator) -> SampleImage {
        SampleImage(width: width, height: height) { _, _ in
            (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) }
                + [opaque ? 255 : UInt8.random(in: 0...255, using: &generator)]
        }
    }

    /// What a reduction to fewer pixels should give: the mean of the area of each, colour times alpha.
    func reduced(width columns: Int, height rows: Int) -> [Double] {
        let (across, down) = (Double(width) / Double(columns), Double(height) / Double(rows))
        var means: [Double] = []
        for row in 0..<rows {
            for column in 0..<columns {
                var sum = [0.0, 0, 0, 0]
                for y in 0..<height {
                    let part = overlap(Double(y), Double(row) * down, down)
                    guard part > 0 else { continue }
                    for x in 0..<width {
                        let weight = part * overlap(Double(x), Double(column) * across, across)
                        let alpha = Double(pixels[(y * width + x) * 4 + 3])
                        for channel in 0..<3 {
                            sum[channel] += weight * Double(pixels[(y * width + x) * 4 + channel]) * alpha / 255
                        }
                        sum[3] += weight * alpha
                    }
                }
                means += sum.map { $0 / (across * down) }
            }
        }
        return means
    }

    /// How much of the unit from `position` lies in `length` from `start`.
    private func overlap(_ position: Double, _ start: Double, _ length: Double) -> Double {
        max(0, min(position + 1, start + length) - max(position, start))
    }
}

/// PNG files, chunk by chunk (ISO 15948).
enum SamplePNG {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func file(_ image: SampleImage, interlaced: Bool = false) -> [UInt8] {
        var rows: [UInt8] = []
        // Of each pass the first column and row, and the distances to the next.
        let passes =
            interlaced
            ? [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ] : [(0, 0, 1, 1)]
        for (x, y, columns, lines) in passes where x < image.width {
            for row in stride(from: y, to: image.height, by: lines) {
                rows.append(0)
                for column in stride(from: x, to: image.width, by: columns) {
                    rows += image.pixels[(row * image.width + column) * 4..<(row * image.width + column) * 4 + 4]
                }
            }
        }
        return file(header: header(image.width, image.height, interlaced: interlaced), rows: compressed(rows))
    }

    static func file(header: [UInt8], rows: [UInt8]) -> [UInt8] {
        signature + header + chunk("IDAT", rows) + chunk("IEND", [])
    }

    static func header(
        _ width: Int, _ height: Int, bits: UInt8 = 8, colours: UInt8 = 6, interlaced: Bool = false
    ) -> [UInt8] {
        chunk(
            "IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [bits, colours, 0, 0, interlaced ? 1 : 0])
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return bigEndian(UInt32(content.count)) + body
            + bigEndian(UInt32(truncatingIfNeeded: crc32(0, body, UInt32(body.count))))
    }

    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(count))
        compress2(&result, &count, bytes, UInt(bytes.count), 9)
        return Array(result[..<Int(count)])
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// JPEG files by libjpeg.
enum SampleJPEG {
    /// - Parameters:
    ///   - pixels: rows of `channels` bytes a pixel.
    ///   - orientation: of EXIF.
    static func file(
        width: Int, height: Int, channels: Int = 3, pixels: [UInt8], progressive: Bool = false,
        orientation: UInt8? = nil
    ) -> [UInt8] {
        var count: UInt = 0
        let file = lectern_jpeg(
            UInt32(width), UInt32(height), Int32(channels), pixels, progressive, orientation ?? 0, &count)
        defer { file?.deallocate() }
        return Array(UnsafeBufferPointer(start: file, count: Int(count)))
    }

    /// Colours by the quarters of the image: red, green below each other on the left, blue, white on the right.
    static func quarters(width: Int, height: Int) -> [UInt8] {
        (0..<height).flatMap { y in
            (0..<width).flatMap { x -> [UInt8] in
                switch (x * 2 < width, y * 2 < height) {
                case (true, true): [255, 0, 0]
                case (true, false): [0, 255, 0]
                case (false, true): [0, 0, 255]
                case (false, false): [255, 255, 255]
                }
            }
        }
    }
}
