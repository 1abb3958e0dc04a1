public import ArgumentParser
public import StrokeWire

/// Options of commands that write boards as files.
struct PictureOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "File to write; its name ends in .png, .svg, .pdf or .inkml.")
    var output: String

    @Option(help: ArgumentHelp("png, svg, pdf or inkml. Default: the output's file extension.", valueName: "format"))
    var format: PictureFormat?

    @Option(
        help: ArgumentHelp(
            "The page with this number, 0 … 999. Default: the one shown, in a PDF all of them.", valueName: "number"))
    var page: Int?

    @Flag(help: "Transparent instead of white paper. Not for PDF, whose pages are white.")
    var transparent = false

    func validate() throws {
        if let page, !PageNumber.range.contains(page) {
            throw ValidationError("--page takes 0 … \(PageNumber.range.upperBound).")
        }
        if try writtenFormat == .pdf, transparent {
            throw ValidationError("The pages of a PDF are white; --transparent is for PNG and SVG.")
        }
    }

    var writtenFormat: PictureFormat { get throws { try PictureFormat(of: output, format) } }
}

extension PictureFormat: ExpressibleByArgument {
    /// The format of a file extension, in either case; nil for any other extension.
    init?(endingOf path: String) {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        self.init(rawValue: name[name.index(after: dot)...].lowercased())
    }

    /// The format of a file: the one named, else that of the file's extension.
    init(of path: String, _ named: PictureFormat?) throws {
        guard let format = named ?? PictureFormat(endingOf: path) else {
            throw ValidationError(
                "'\(path)' ends in none of .png, .svg, .pdf and .inkml; name the format with --format.")
        }
        self = format
    }
}
