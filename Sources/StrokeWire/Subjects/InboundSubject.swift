/// A subject that a message came in on, taken apart.
public struct InboundSubject: Hashable, Sendable {
    public let address: RoomAddress
    public let kind: RoomSubject

    /// - Parameters:
    ///   - subject: as received, such as `ink.0.lesson-7.in.teacher`.
    ///   - root: what it has to begin with, without the full stop that follows.
    /// - Returns: nil for anything that is not a subject of a room under `root`. Whether the room belongs to the
    ///   partition that the subject names is not looked at.
    public init?(_ subject: String, root: String) {
        let text = subject.utf8
        guard text.starts(with: root.utf8) else { return nil }
        // The empty first part is what stands before the full stop after the root.
        let parts = text.dropFirst(root.utf8.count).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 || parts.count == 5, parts[0].isEmpty,
            let partition = Self.partition(parts[1]),
            let room = RoomID(Substring(parts[2])),
            let kind = RoomSubject(verb: Substring(parts[3]), name: parts.count == 5 ? Substring(parts[4]) : nil)
        else { return nil }
        address = RoomAddress(root: root, partition: partition, room: room)
        self.kind = kind
    }

    /// Digits without a leading zero, as the service itself writes them.
    private static func partition(_ digits: Substring.UTF8View) -> Int? {
        guard (1...9).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}

extension RoomSubject {
    /// What `<verb>` or `<verb>.<name>` after a room's address is for; nil where it is for nothing.
    init?(verb: Substring, name: Substring?) {
        func author(_ make: (AuthorID) -> RoomSubject) -> RoomSubject? { name.flatMap { AuthorID($0) }.map(make) }
        func cohort(_ make: (CohortName) -> RoomSubject) -> RoomSubject? { name.flatMap { CohortName($0) }.map(make) }
        func bare(_ subject: RoomSubject) -> RoomSubject? { name == nil ? subject : nil }
        let subject: RoomSubject? =
            switch verb {
            case "in": author(RoomSubject.input)
            case "feedback": author(RoomSubject.feedback)
            case "clock": cohort(RoomSubject.clock)
            case "out": cohort(RoomSubject.out)
            case "mark": cohort(RoomSubject.mark)
            case "join": cohort(RoomSubject.join)
            case "image": cohort(RoomSubject.image)
            case "head": bare(.head)
            case "ctl": bare(.control)
            case "info": bare(.info)
            default: nil
            }
        guard let subject else { return nil }
        self = subject
    }
}
