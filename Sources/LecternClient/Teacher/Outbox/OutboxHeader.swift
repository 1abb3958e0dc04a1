internal import StrokeWire

/// The first line of an outbox file: whose it is.
struct OutboxHeader: Equatable {
    struct Owner: Equatable, CustomStringConvertible {
        let address: String
        let author: String

        init(address: RoomAddress, author: AuthorID) {
            self.address = address.description
            self.author = author.text
        }

        fileprivate init(address: String, author: String) {
            self.address = address
            self.author = author
        }

        var description: String { "\(author) in \(address)" }
    }

    private static let title = "lectern-outbox 1"

    let owner: Owner
    let session: String

    init(owner: Owner, session: String) {
        self.owner = owner
        self.session = session
    }

    /// - Returns: nil for a line that is no header.
    init?(_ line: ArraySlice<UInt8>) {
        guard let content = OutboxLine.content(of: line) else { return nil }
        let words = String(decoding: content, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, "\(words[0]) \(words[1])" == Self.title else { return nil }
        self.init(owner: Owner(address: String(words[2]), author: String(words[3])), session: String(words[4]))
    }

    /// With its line break.
    var line: [UInt8] {
        OutboxLine.encoded(Array("\(Self.title) \(owner.address) \(owner.author) \(session)".utf8))
    }

    /// Whether a file without a whole line may be one whose header was cut short, and not somebody's other file.
    static func canBegin(_ contents: [UInt8]) -> Bool {
        contents.prefix(8).allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
            && (" " + title + " ").utf8.starts(with: contents.dropFirst(8).prefix(title.utf8.count + 2))
    }
}
