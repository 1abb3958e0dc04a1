/// Subjects that nobody else listens to.
enum Inbox {
    /// `_INBOX.` and 22 random characters, about 113 bits.
    static func random() -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return "_INBOX." + String((0..<22).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] })
    }
}
