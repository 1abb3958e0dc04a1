internal import Assets

/// What `pdfinfo` of poppler-utils prints.
enum PDFInfo {
    /// In points: a box of less is empty. What is next to nothing would be enlarged beyond all numbers.
    private static let leastSide = 0.001

    /// The sizes of all pages, turned as they are to be seen: those of their crop boxes, else of their media boxes, else of
    /// the page before, or of the first that has a size.
    ///
    /// A title may contain lines that look like those of interest. It is printed before them, so that the last ones count.
    /// - Throws: `.tooLarge`; `.unreadable` where no page has a size.
    static func pages(_ output: [UInt8]) throws(AssetError) -> [AssetPage] {
        var count: Int?
        var sizes: [Int: (width: Double, height: Double)] = [:]
        var mediaBoxes: [Int: (width: Double, height: Double)] = [:]
        var turns: [Int: Int] = [:]
        for line in output.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            if words.count == 2, words[0] == "Pages:" {
                count = Int(words[1])
            } else if words.count >= 4, words[0] == "Page", let number = Int(words[1]) {
                // Page    1 size:  595.276 x 841.89 pts (A4)
                if words[2] == "size:", words.count >= 6, words[4] == "x" {
                    guard let width = Double(words[3]), let height = Double(words[5]) else { continue }
                    sizes[number] = (width, height)
                } else if words[2] == "rot:" {
                    turns[number] = Int(words[3])
                } else if words[2] == "MediaBox:", words.count == 7 {
                    // Page    1 MediaBox:     0.00     0.00   595.28   841.89
                    let edges = words[3...].compactMap { Double($0) }
                    guard edges.count == 4 else { continue }
                    mediaBoxes[number] = (abs(edges[2] - edges[0]), abs(edges[3] - edges[1]))
                }
            }
        }
        guard let count, count > 0 else { throw .unreadable("it has no pages") }
        guard count <= AssetLimits.pages else { throw .tooLarge("it has \(count) pages") }
        var pages: [AssetPage?] = []
        for number in 1...count {
            let boxes = [(AssetPage.Box.crop, sizes[number]), (.media, mediaBoxes[number])]
            let shown = boxes.lazy.compactMap { box, size in size.map { (box: box, size: $0) } }
            guard let (box, size) = shown.first(where: { min($0.size.width, $0.size.height) >= leastSide }) else {
                pages.append(pages.last.flatMap { $0?.blank })
                continue
            }
            let isTurned = (turns[number] ?? 0) % 180 != 0
            let (width, height) = isTurned ? (size.height, size.width) : (size.width, size.height)
            guard let page = AssetPage(width: width, height: height, box: box) else {
                throw .tooLarge("page \(number) has \(width) by \(height) points")
            }
            pages.append(page)
        }
        guard let first = pages.compactMap(\.self).first else { throw .unreadable("no page has a size") }
        return pages.map { $0 ?? first.blank }
    }
}

/// A PDF of one empty page.
enum BlankPDF {
    static func page(_ size: AssetPage) -> [UInt8] {
        // Readers find the objects without a table of their places.
        Array(
            """
            %PDF-1.4
            1 0 obj
            << /Type /Catalog /Pages 2 0 R >>
            endobj
            2 0 obj
            << /Type /Pages /Kids [3 0 R] /Count 1 >>
            endobj
            3 0 obj
            << /Type /Page /Parent 2 0 R /MediaBox [0 0 \(size.width) \(size.height)] >>
            endobj
            trailer
            << /Size 4 /Root 1 0 R >>
            %%EOF

            """.utf8)
    }
}

/// The pixels that children print.
enum PixelOutput {
    /// Width and height of a PNG file; nil where it is none.
    static func size(ofPNG output: [UInt8]) -> (width: Int, height: Int)? {
        guard AssetFormat(output) == .png, output.count >= 24 else { return nil }
        // The first chunk has them, highest bytes first.
        func number(_ position: Int) -> Int { output[position..<position + 4].reduce(0) { $0 << 8 | Int($1) } }
        return (number(16), number(20))
    }

    /// Width and height as 4 bytes each, lowest first, then pixels as ``AssetPixels`` has them.
    static func premultiplied(_ output: [UInt8]) -> AssetPixels? {
        func number(_ position: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(output[position + $1]) << (8 * $1) }
        }
        guard output.count > 8 else { return nil }
        return pixels(width: number(0), height: number(4), output.count - 8) { Array(output[8...]) }
    }

    /// A binary PPM file (Netpbm, `P6`) with 8 bits a channel, which becomes opaque.
    static func ppm(_ output: [UInt8]) -> AssetPixels? {
        let fields = output.prefix(64).split(maxSplits: 4) { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }
        let sides = 1...AssetLimits.renderedPixels
        guard fields.count >= 4, fields[0].elementsEqual("P6".utf8), fields[3].elementsEqual("255".utf8),
            let width = Int(String(decoding: fields[1], as: UTF8.self)), sides ~= width,
            let height = Int(String(decoding: fields[2], as: UTF8.self)), sides ~= height
        else { return nil }
        // One byte of white space, then the pixels, which may look like more of it.
        let start = fields[3].endIndex + 1
        let rowPixels = width * height
        guard (output.count - start) == rowPixels * 3 else { return nil }
        return pixels(width: width, height: height, rowPixels * 4) {
            [UInt8](unsafeUninitializedCapacity: rowPixels * 4) { bytes, count in
                output.withUnsafeBufferPointer { output in
                    for pixel in 0..<rowPixels {
                        bytes[4 * pixel] = output[start + 3 * pixel]
                        bytes[4 * pixel + 1] = output[start + 3 * pixel + 1]
                        bytes[4 * pixel + 2] = output[start + 3 * pixel + 2]
                        bytes[4 * pixel + 3] = 255
                    }
                }
                count = rowPixels * 4
            }
        }
    }

    /// - Parameter bytes: of the pixels.
    private static func pixels(width: Int, height: Int, _ bytes: Int, _ read: () -> [UInt8]) -> AssetPixels? {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count <= AssetLimits.renderedPixels, bytes == count * 4 else {
            return nil
        }
        return AssetPixels(width: width, height: height, bytes: read())
    }
}
