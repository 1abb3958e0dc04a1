/// PDF files from their objects, with the table that says where they are.
package enum SamplePDF {
    /// - Parameter objects: the bodies of the objects 1, 2, …; the first is the catalogue.
    package static func file(_ objects: [String]) -> [UInt8] {
        var text = "%PDF-1.4\n"
        var places: [Int] = []
        for (number, body) in objects.enumerated() {
            places.append(text.utf8.count)
            text += "\(number + 1) 0 obj\n\(body)\nendobj\n"
        }
        let table = text.utf8.count
        text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
        for place in places {
            let digits = String(place)
            text += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
        }
        text += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R >>\nstartxref\n\(table)\n%%EOF\n"
        return Array(text.utf8)
    }

    package static func stream(_ content: String, _ entries: String = "") -> String {
        "<< /Length \(content.utf8.count) \(entries) >>\nstream\n\(content)\nendstream"
    }

    /// Pages with these entries, each with the same content.
    /// - Parameters:
    ///   - content: in the language of the format.
    ///   - resources: names that the content uses.
    ///   - more: objects from the number 4 on.
    package static func pages(
        _ entries: [String], content: String = "", resources: String = "", more: [String] = []
    ) -> [UInt8] {
        let kids = entries.indices.map { "\($0 + 4 + more.count) 0 R" }.joined(separator: " ")
        return file(
            ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count \(entries.count) /Kids [\(kids)] >>"]
                + [stream(content)] + more
                + entries.map { "<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources << \(resources) >> \($0) >>" })
    }
}
