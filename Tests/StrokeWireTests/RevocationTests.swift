import Testing

@testable import StrokeWire

@Suite struct RevocationTableTests {
    private var table = RevocationTable()

    private func token(_ id: String, expires: Int64? = nil) throws -> Revocation {
        try #require(Revocation.token(id, expires: expires))
    }

    @Test func `Revocations and pages come back as they were written`() throws {
        let all = [
            try token("a\"b", expires: 1_790_000_000), try token("ü"),
            try #require(Revocation.subject("anna", issuedThrough: 1_760_000_000)),
        ]
        for one in all { #expect(try Revocation(decoding: one.encoded()) == one) }
        #expect(all[2].encoded() == Array(#"{"sub":"anna","iat":1760000000}"#.utf8))
        let page = RevocationPage(list: "l", through: 7, hasMore: true, ended: 1_789_990_000, revocations: all)
        #expect(try RevocationPage(decoding: page.encoded()) == page)
        let request = RevocationRequest(list: "l", after: 41)
        #expect(try RevocationRequest(decoding: request.encoded()) == request)
        #expect(try RevocationRequest(decoding: []) == RevocationRequest())
    }

    @Test func `Bad names are refused`() throws {
        #expect(Revocation.token("", expires: nil) == nil)
        #expect(Revocation.token(String(repeating: "a", count: 257), expires: nil) == nil)
        for text in ["{}", #"{"jti":""}"#, #"{"sub":"a"}"#, #"{"jti":1}"#, "[]", ""] {
            #expect(throws: Rejection.self) { try Revocation(decoding: Array(text.utf8)) }
        }
    }

    @Test
    mutating func `A table tells which tokens count, drops those that have ended, and replaces by subject`() throws {
        table.insert(try token("a", expires: 10), at: 1)
        table.insert(try token("b"), at: 2)
        table.insert(try #require(Revocation.subject("s", issuedThrough: 5)), at: 3)
        #expect(table.revokes(id: "a", subject: nil, issued: nil))
        #expect(!table.revokes(id: "c", subject: "t", issued: 1))
        #expect(table.revokes(id: nil, subject: "s", issued: 5))
        #expect(!table.revokes(id: nil, subject: "s", issued: 6))
        #expect(table.revokes(id: nil, subject: "s", issued: nil))
        table.insert(try #require(Revocation.subject("s", issuedThrough: 9)), at: 4)
        #expect(table.count == 3)
        #expect(table.revokes(id: nil, subject: "s", issued: 9))
        #expect(table.removeExpired(at: 9) == [])
        #expect(table.removeExpired(at: 10) == [1])
        #expect(!table.revokes(id: "a", subject: nil, issued: nil))
        #expect(table.revokes(id: "b", subject: nil, issued: nil))
    }

    @Test mutating func `A revocation is not undone by a second one with an earlier end`() throws {
        table.insert(try token("a"), at: 1)
        #expect(!table.insert(try token("a", expires: 3), at: 2))
        #expect(table.removeExpired(at: 4) == [])
        #expect(table.revokes(id: "a", subject: nil, issued: nil))
        table.insert(try token("b", expires: 9), at: 3)
        #expect(!table.insert(try token("b", expires: 3), at: 4))
        #expect(table.insert(try token("b", expires: 12), at: 5))
        #expect(table.removeExpired(at: 10) == [])
        #expect(table.removeExpired(at: 12) == [5])
        table.insert(try #require(Revocation.subject("s", issuedThrough: 9)), at: 6)
        #expect(!table.insert(try #require(Revocation.subject("s", issuedThrough: 5)), at: 7))
        #expect(table.revokes(id: nil, subject: "s", issued: 9))
        #expect(table.count == 2 && table.last == 7)
    }

    @Test mutating func `Beyond a bound the first ones of a table go`() throws {
        for number in 1...10 { table.insert(try token("t\(number)"), at: UInt64(number)) }
        table.removeOldest(beyond: 7)
        #expect(table.count == 7)
        #expect((1...10).filter { table.revokes(id: "t\($0)", subject: nil, issued: nil) } == Array(4...10))
    }

    @Test mutating func `Pages hold every revocation after a place once`() throws {
        for number in 1...1234 { table.insert(try token("t\(number)"), at: UInt64(number * 3)) }
        var (place, found) = (UInt64(0), [Revocation]())
        while true {
            let page = table.page(after: place, of: "l")
            #expect(page.revocations.count <= RevocationPage.limit)
            found += page.revocations
            place = page.through
            if !page.hasMore { break }
        }
        #expect(place == 1234 * 3)
        #expect(found == (try (1...1234).map { try token("t\($0)") }))
        var small: [Revocation] = []
        place = 0
        while true {
            let page = table.page(after: place, of: "l", bytes: 1000)
            #expect(page.encoded().count <= 1000 && (page.revocations.count > 5 || !page.hasMore))
            small += page.revocations
            place = page.through
            if !page.hasMore { break }
        }
        #expect(place == 1234 * 3 && small == found)
        #expect(table.page(after: 0, of: "l", bytes: 1).revocations == [try token("t1")])
        #expect(table.page(after: place, of: "l").revocations.isEmpty)
        // The list that the place was in has lost its end.
        #expect(table.page(after: place + 1, of: "l").revocations.first == (try token("t1")))
    }
}
