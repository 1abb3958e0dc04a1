/// The objects of a PDF document, numbered from 1, and the table that tells where they begin.
struct PDFFile {
    // The second line tells programs that move files that this one is not text.
    private var bytes: [UInt8] = Array("%PDF-1.4\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]
    private var offsets: [Int] = []

    mutating func add(_ body: String) {
        add(Array(body.utf8))
    }

    mutating func add(stream: [UInt8]) {
        var body: [UInt8] = []
        body.append("<</Length \(stream.count)>>stream\n")
        body += stream
        body.append("\nendstream")
        add(body)
    }

    mutating func add(_ body: [UInt8]) {
        offsets.append(bytes.count)
        bytes.append("\(offsets.count) 0 obj\n")
        bytes += body
        bytes.append("\nendobj\n")
    }

    consuming func finish() -> [UInt8] {
        let start = bytes.count
        bytes.append("xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n")
        for offset in offsets {
            let digits = String(offset)
            bytes.append(String(repeating: "0", count: max(10 - digits.utf8.count, 0)) + digits + " 00000 n \n")
        }
        bytes.append("trailer\n<</Size \(offsets.count + 1)/Root 1 0 R>>\nstartxref\n\(start)\n%%EOF\n")
        return bytes
    }
}
