/// Resolves the references in playlists (RFC 3986, section 5.2).
package enum URLReference {
    /// The address that `reference` means in a document at `base`. A base without a scheme is the path of a file.
    package static func resolve(_ reference: String, base: String) -> String {
        if scheme(of: reference) != nil { return reference }
        let document = base.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = scheme(of: base) else {
            return reference.hasPrefix("/") ? reference : normalized(folder(of: document[...]) + reference)
        }
        if reference.hasPrefix("//") { return scheme + ":" + reference }
        let rest = document.dropFirst(scheme.count + 1)
        guard rest.hasPrefix("//") else { return scheme + ":" + folder(of: rest) + reference }
        let authority = rest.dropFirst(2).prefix { $0 != "/" }
        let root = scheme + "://" + authority
        if reference.isEmpty { return String(document) }
        if reference.hasPrefix("?") { return document + reference }
        let path = rest.dropFirst(2 + authority.count)
        if reference.hasPrefix("/") { return root + normalized(reference) }
        return root + normalized((path.isEmpty ? "/" : folder(of: path)) + reference)
    }

    /// The scheme in lower case; nil where there is none.
    package static func scheme(of text: String) -> String? {
        let name = text.prefix { $0 != ":" }
        guard name.count < text.count, let first = name.first, first.isASCII, first.isLetter,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return name.lowercased()
    }

    /// Up to the last slash.
    private static func folder(of path: Substring) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// Without `.` and `..`; the query stays as it is.
    private static func normalized(_ reference: String) -> String {
        let path = reference.prefix { $0 != "?" && $0 != "#" }
        var parts: [Substring] = []
        let steps = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, step) in steps.enumerated() {
            switch step {
            case ".": if index == steps.count - 1 { parts.append("") }
            case "..":
                if let last = parts.last, !last.isEmpty, last != ".." {
                    parts.removeLast()
                } else if !path.hasPrefix("/") {
                    parts.append(step)
                }
                if index == steps.count - 1 { parts.append("") }
            default: parts.append(step)
            }
        }
        return parts.joined(separator: "/") + reference.dropFirst(path.count)
    }
}
