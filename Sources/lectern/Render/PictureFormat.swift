import ArgumentParser

/// What a picture is written as; the raw value is the ending of the file's name.
enum PictureFormat: String, CaseIterable, ExpressibleByArgument {
    case png, svg, pdf

    /// The format that the ending of a file's name stands for, in capitals or not; nil for any other ending.
    init?(endingOf path: String) {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        self.init(rawValue: name[name.index(after: dot)...].lowercased())
    }
}
