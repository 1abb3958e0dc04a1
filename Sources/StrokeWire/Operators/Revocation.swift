/// A revocation: tokens of the HTTP side that are refused from now on, before they expire.
public struct Revocation: Sendable, Hashable {
    /// The tokens that it is about.
    public enum Target: Sendable, Hashable {
        /// The one with this `jti`.
        case token(String)
        /// Those with this `sub`.
        case subject(String)

        /// How the `jti` of a link for students begins, which teachers make and revoke.
        package static let linkPrefix = "link."

        package var isLink: Bool {
            if case .token(let id) = self { id.utf8.starts(with: Self.linkPrefix.utf8) } else { false }
        }
    }

    public let target: Target
    /// Of a subject: tokens that were issued (`iat`) later count, in seconds since 1970. Tokens without an `iat` do not
    /// count.
    public let issuedThrough: Int64
    /// When the last of these tokens ends, in seconds since 1970; nil where that is not known.
    public let expires: Int64?

    /// Bytes of a `jti` or a `sub`, 1 … this many.
    public static let nameBytes = 256

    private static func isName(_ text: String) -> Bool { 1...nameBytes ~= text.utf8.count && text.isPrintable }

    private init(_ target: Target, issuedThrough: Int64, expires: Int64?) {
        (self.target, self.issuedThrough, self.expires) = (target, issuedThrough, expires)
    }

    /// The revocation of one token.
    /// - Returns: nil for a `jti` that is empty or too long, or has characters that a terminal does not show.
    public static func token(_ id: String, expires: Int64?) -> Revocation? {
        guard isName(id) else { return nil }
        return Revocation(.token(id), issuedThrough: 0, expires: expires)
    }

    /// All tokens that this one or another about the same target ends, for as long as either holds.
    public func union(_ other: Revocation) -> Revocation {
        var end: Int64?
        if let expires, let other = other.expires { end = max(expires, other) }
        return Revocation(target, issuedThrough: max(issuedThrough, other.issuedThrough), expires: end)
    }

    /// The revocation of all tokens of a subject that were issued at or before a time.
    /// - Returns: nil for a `sub` that is empty or too long, or has characters that a terminal does not show.
    public static func subject(_ subject: String, issuedThrough: Int64, expires: Int64? = nil) -> Revocation? {
        guard isName(subject) else { return nil }
        return Revocation(.subject(subject), issuedThrough: issuedThrough, expires: expires)
    }
}

/// As a part of a command.
extension Revocation {
    /// What it is about, for a person: `jti …`, `sub …`.
    public var name: String {
        switch target {
        case .token(let id): "jti \(id)"
        case .subject(let subject): "sub \(subject)"
        }
    }

    func encode(into body: inout [UInt8]) {
        switch target {
        case .token(let id): body.append("jti", string: id)
        case .subject(let subject):
            body.append("sub", string: subject)
            body.append("iat", integer: issuedThrough)
        }
        body.append("exp", integer: expires)
    }

    init(_ body: JSONObject) throws(Rejection) {
        let times = 0...Int64.maxSafeInteger
        let expires = try body.integer("exp", in: times)
        if let id = try body.string("jti", limit: Self.nameBytes) {
            guard let revocation = Revocation.token(id, expires: expires) else {
                throw .outOfRange("jti", "1 to 256 bytes without control characters")
            }
            self = revocation
            return
        }
        let subject = try body.requiredString("sub", limit: Self.nameBytes)
        let issued = try body.requiredInteger("iat", in: times)
        guard let revocation = Revocation.subject(subject, issuedThrough: issued, expires: expires) else {
            throw .outOfRange("sub", "1 to 256 bytes without control characters")
        }
        self = revocation
    }
}

extension Revocation {
    fileprivate static let keys = ["jti", "sub", "iat", "exp"]

    /// Writes it: `{"jti":"…","exp":1790000000}`, `{"sub":"anna","iat":1760000000}`.
    public func encoded() -> [UInt8] { JSONObject.encoded { encode(into: &$0) } }

    /// Reads one.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(JSONObject(bytes, keeping: Self.keys))
    }
}

/// Request for revocations, to `<root>.revocations`: those after a place in a list, `{"list":"…","after":41}`; without a
/// list all.
public struct RevocationRequest: Sendable, Hashable {
    /// The list that the place is in; nil for none.
    public var list: String?
    public var after: UInt64

    public init(list: String? = nil, after: UInt64 = 0) { (self.list, self.after) = (list, after) }

    /// Writes it.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("after", integer: after)
            body.append("list", string: list)
        }
    }

    /// Reads one; an empty payload asks for all.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        guard !bytes.isEmpty else {
            self.init()
            return
        }
        let body = try JSONObject(bytes, keeping: ["list", "after"])
        self.init(list: try body.string("list", limit: 64), after: try body.index("after") ?? 0)
    }
}

/// A part of the list of revocations: the answer to ``RevocationRequest``, and what is published on `<root>.revoked` when
/// tokens are revoked: `{"list":"…","through":42,"more":false,"ended":…,"revoked":[{"jti":"…","exp":…}]}`.
public struct RevocationPage: Sendable, Hashable {
    /// Names the list: the places of another one cannot be compared with those of this.
    public let list: String
    /// The place of the last one.
    public let through: UInt64
    /// Whether there are more after it.
    public let hasMore: Bool
    /// Tokens that expire until then have ended by the clock of the service, in seconds since 1970.
    public let ended: Int64
    public let revocations: [Revocation]

    /// Revocations in a page at most.
    public static let limit = 500

    public init(list: String, through: UInt64, hasMore: Bool, ended: Int64 = 0, revocations: [Revocation]) {
        (self.list, self.through, self.hasMore, self.ended) = (list, through, hasMore, ended)
        self.revocations = revocations
    }

    /// Writes it.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("list", string: list)
            body.append("through", integer: through)
            body.append("more", bool: hasMore)
            body.append("ended", integer: ended)
            body.append("revoked", list: revocations) { $0 += $1.encoded() }
        }
    }

    /// Reads one.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["list", "through", "more", "ended", "revoked"], limit: .max)
        list = try body.requiredString("list", limit: .max)
        through = try body.requiredIndex("through")
        hasMore = try body.bool("more") ?? false
        ended = try body.integer("ended", in: 0...Int64.maxSafeInteger) ?? 0
        revocations = try body.objects("revoked", keeping: Revocation.keys) { body throws(Rejection) in
            try Revocation(body)
        }.required("revoked")
    }
}

/// Revocations by what they are about, each at its place in the list.
///
/// Not bounded by itself: a daemon takes no more than ``limit``, a gateway removes the oldest.
public struct RevocationTable: Sendable {
    /// Revocations that the daemons keep at most: some 10 MB.
    public static let limit = 50_000

    private struct Entry {
        let place: UInt64
        let revocation: Revocation
    }

    private var places: [Revocation.Target: UInt64] = [:]
    /// By place.
    private var entries: [Entry] = []
    /// When those that have ended were last removed, in seconds since 1970.
    private var ended: Int64 = 0

    public init() {}

    public var count: Int { entries.count }

    /// How many of them are about links.
    package var linkCount: Int { entries.count { $0.revocation.target.isLink } }

    /// All of them, by place.
    public var revocations: [Revocation] { entries.map { $0.revocation } }

    /// The place of the last one that was put here.
    public private(set) var last: UInt64 = 0

    public subscript(target: Revocation.Target) -> Revocation? {
        places[target].flatMap { place in
            let position = position(of: place)
            return position < entries.count && entries[position].place == place ? entries[position].revocation : nil
        }
    }

    /// Puts one at its place, together with what is here about the same tokens: none makes a token good again.
    /// - Parameter place: that no other one has.
    /// - Returns: whether it ends more than what was here.
    @discardableResult
    public mutating func insert(_ revocation: Revocation, at place: UInt64) -> Bool {
        var (whole, place) = (revocation, place)
        var before: Revocation?
        if let known = places[revocation.target] {
            let old = entries.remove(at: position(of: known)).revocation
            (before, whole, place) = (old, old.union(revocation), max(known, place))
        }
        places[whole.target] = place
        entries.insert(Entry(place: place, revocation: whole), at: position(of: place))
        last = max(last, place)
        return whole != before
    }

    /// Removes the first ones of the list beyond a number.
    public mutating func removeOldest(beyond limit: Int) {
        guard entries.count > limit else { return }
        for entry in entries.prefix(entries.count - limit) { places[entry.revocation.target] = nil }
        entries.removeFirst(entries.count - limit)
    }

    /// Removes those whose tokens have ended.
    /// - Parameter now: in seconds since 1970.
    /// - Returns: their places.
    public mutating func removeExpired(at now: Int64) -> [UInt64] {
        ended = max(now, 0)
        let removed = entries.filter { $0.revocation.expires.map { $0 <= now } ?? false }
        guard !removed.isEmpty else { return [] }
        entries.removeAll { $0.revocation.expires.map { $0 <= now } ?? false }
        for entry in removed { places[entry.revocation.target] = nil }
        return removed.map { $0.place }
    }

    /// Whether a token no longer counts.
    /// - Parameters:
    ///   - id: its `jti`.
    ///   - subject: its `sub`.
    ///   - issued: its `iat`, in seconds since 1970.
    public func revokes(id: String?, subject: String?, issued: Int64?) -> Bool {
        if let id, places[.token(id)] != nil { return true }
        guard let subject, let revocation = self[.subject(subject)] else { return false }
        return issued.map { $0 <= revocation.issuedThrough } ?? true
    }

    /// Those after a place, at most ``RevocationPage/limit``; those from the beginning where the list does not come to it.
    /// - Parameters:
    ///   - list: the name of the list.
    ///   - bytes: of the page as it is written, at most; a page has one at least.
    public func page(after place: UInt64, of list: String, bytes: Int = .max) -> RevocationPage {
        // A list that does not come so far has lost its end.
        let start = place > last ? 0 : position(of: place + 1)
        let empty = RevocationPage(list: list, through: .max, hasMore: false, ended: ended, revocations: [])
        var space = bytes - empty.encoded().count
        var part = entries[start...].prefix(RevocationPage.limit)
        part = part.prefix { entry in
            space -= entry.revocation.encoded().count + 1
            return space >= 0 || entry.place == part.first?.place
        }
        let hasMore = part.endIndex < entries.count
        return RevocationPage(
            list: list, through: hasMore ? part.last?.place ?? last : last, hasMore: hasMore, ended: ended,
            revocations: part.map { $0.revocation })
    }

    /// Where a place is, or would be.
    private func position(of place: UInt64) -> Int { entries.partitioningIndex { $0.place >= place } }
}
