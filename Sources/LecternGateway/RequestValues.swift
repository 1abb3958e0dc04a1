internal import Foundation
internal import Hummingbird
internal import StrokeWire

// What a request says, each kind of it read here alone: names, numbers and times of the path and the query, headers, bodies.

extension SubjectToken {
    /// - Parameter what: what has the name, for the error.
    /// - Throws: `bad-request` for a text that is no such name.
    init(_ text: some StringProtocol, of what: String) throws(GatewayError) {
        guard let name = Self(text) else {
            throw .badRequest("The name of \(what) is 1 to 64 characters of a to z, 0 to 9, _ and -.")
        }
        self = name
    }
}

extension CohortName {
    /// - Throws: `bad-request` for a text that names none.
    init(named text: some StringProtocol) throws(GatewayError) {
        try self.init(text, of: "a cohort, but for open and default,")
    }
}

extension FixedWidthInteger {
    /// - Returns: nil for a text that is not of digits alone.
    init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        self.init(text)
    }
}

extension SubjectToken {
    /// The name in a part of a path. As it stands it has nothing to decode, and Foundation is slow to find that out.
    init?(pathPart text: some StringProtocol) {
        if let name = Self(text) { self = name } else { self.init(text.removingPercentEncoding ?? String(text)) }
    }
}

extension GatewayContext {
    func room() throws(GatewayError) -> RoomID { try name("room", of: "a room") }

    func author() throws(GatewayError) -> AuthorID { try name("author", of: "an author") }

    private func name<Name: SubjectToken>(_ parameter: String, of what: String) throws(GatewayError) -> Name {
        let text = parameters.get(parameter) ?? ""
        if let name = Name(pathPart: text) { return name }
        return try Name(text.removingPercentEncoding ?? text, of: what)
    }

    func page() throws(GatewayError) -> Int {
        guard let page = parameters.get("page").flatMap({ Int(digits: $0) }), PageNumber.range ~= page else {
            throw .badRequest("A page is a number from 0 to \(PageNumber.range.upperBound).")
        }
        return page
    }
}

/// The query.
extension Request {
    func text(_ name: String) -> String? { uri.queryParameters[Substring(name)].map(String.init) }

    /// The cohort; `main` by default.
    func cohort() throws(GatewayError) -> CohortName { try CohortName(named: text("cohort") ?? "main") }

    /// A cohort's feed, `main` by default, or the head's.
    func feed() throws(GatewayError) -> RoomFeed {
        text("cohort") == "head" ? .head : .cohort(try cohort())
    }

    /// The author, who has to be there.
    func author() throws(GatewayError) -> AuthorID {
        guard let name = text("author") else { throw .badRequest("author is missing: add ?author=NAME.") }
        return try AuthorID(name, of: "an author")
    }

    /// The author; nil without one.
    func authorIfAny() throws(GatewayError) -> AuthorID? { text("author") == nil ? nil : try author() }

    /// What boards say of who asked for something: `name`, or the author; nil where neither is given.
    func shownName(of author: AuthorID?) throws(GatewayError) -> String? {
        guard let name = text("name"), !name.isEmpty else { return author?.text }
        guard name.unicodeScalars.count <= 64 else { throw .badRequest("name is at most 64 characters long.") }
        return name
    }

    func incarnation() throws(GatewayError) -> String? {
        let incarnation = text("room")
        guard incarnation?.utf8.count ?? 0 <= 256 else { throw .badRequest("room is at most 256 bytes long.") }
        return incarnation
    }

    /// A number, written in digits alone.
    func number<Value: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Value>
    ) throws(GatewayError) -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = Value(digits: text), range ~= value else {
            throw .badRequest("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// Milliseconds, with or without a fraction.
    func mediaTime(_ name: String) throws(GatewayError) -> MediaTime? {
        guard let text = text(name) else { return nil }
        guard let number = Double(text), let time = MediaTime(milliseconds: number) else {
            throw .badRequest("\(name) is a number of milliseconds.")
        }
        return time
    }
}

/// Headers.
extension Request {
    private static let sessionField = HTTPFields.Element.Name(HeaderName.session)!

    /// The session whose sequence the numbers belong to; nil without one, or with an unusable one.
    var session: String? { HeaderName.validSession(headers[Self.sessionField]) }

    private static let ndjson = "application/x-ndjson"

    var isNDJSON: Bool { headers[.contentType]?.split(separator: ";").first?.lowercased() == Self.ndjson }

    /// Whether the client reads answers line by line.
    var acceptsNDJSON: Bool { headers[values: .accept].contains { $0.lowercased().contains(Self.ndjson) } }

    /// Whether the client takes a content coding, by RFC 9110, 12.5.3.
    /// - Parameter alias: another name of it.
    func accepts(_ coding: String, or alias: String? = nil) -> Bool {
        let items = WeightedItem.list(headers[.acceptEncoding] ?? "")
        func weight(_ name: String) -> Double? { items.last { $0.name == name }?.weight }
        return (weight(coding) ?? alias.flatMap(weight) ?? weight("*") ?? 0) > 0
    }
}

/// An item of a header that says what a client wants, such as `gzip;q=0.5` (RFC 9110, 12.4.2).
struct WeightedItem {
    /// In lower case.
    let name: String
    /// From 0 to 1; 1 where it has none, 0 where it is no such number: what it is about is not wanted then.
    let weight: Double

    static func list(_ header: some StringProtocol) -> [WeightedItem] {
        header.lowercased().split(separator: ",").compactMap { item in
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.weight($0.dropFirst(2)) }
            return parts.first.map { WeightedItem(name: $0, weight: weight ?? 1) }
        }
    }

    private static func weight(_ text: Substring) -> Double {
        // A Double may be written in more forms than these digits.
        guard text.allSatisfy("0123456789.".contains), let weight = Double(text), weight <= 1 else { return 0 }
        return weight
    }
}

/// Bodies.
extension Request {
    /// The whole body.
    func bytes(atMost limit: Int) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw GatewayError.tooLarge("The body has \(length) bytes, of at most \(limit).")
        }
        var bytes: [UInt8] = []
        for try await part in body {
            guard bytes.count + part.readableBytes <= limit else {
                throw GatewayError.tooLarge("The body has more than \(limit) bytes.")
            }
            bytes += part.readableBytesView
        }
        return bytes
    }

    /// The body in JSON, all of whose members may be left out, as may the body.
    /// - Parameter form: of the JSON, for the error.
    func jsonBody<Body: Decodable>(_ form: String) async throws -> Body {
        let bytes = try await bytes(atMost: 4096)
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(bytes.isEmpty ? Array("{}".utf8) : bytes))
        else {
            throw GatewayError.badRequest("The body is \(form), or empty.")
        }
        return body
    }

    /// The lines of the body that are not blank, or all of it as one, and its bytes.
    /// - Parameters:
    ///   - what: what a line is, for the error.
    ///   - most: lines at most.
    func lines(
        _ what: String, atMost most: Int, bytes limit: Int, isNDJSON: Bool = true
    ) async throws -> (bytes: Int, lines: [ArraySlice<UInt8>]) {
        let body = try await bytes(atMost: limit)
        let blanks = Array(" \t\r".utf8)
        let lines =
            isNDJSON
            ? body.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy(blanks.contains) } : [body[...]]
        guard 1...most ~= lines.count else { throw GatewayError.badRequest("A request has 1 to \(most) \(what).") }
        return (body.count, lines)
    }
}
