import Testing

@testable import NATSClient

@Suite struct HeaderTests {
    @Test func `Headers keep their order and give the first value of a name`() {
        var headers: NATSHeaders = ["Ink-Index": "1", "Ink-Author": "ada"]
        headers.append("Ink-Index", "2")
        #expect(headers.fields.map(\.name) == ["Ink-Index", "Ink-Author", "Ink-Index"])
        #expect(headers["Ink-Index"] == "1")
        #expect(headers["ink-index"] == nil)
    }

    @Test(arguments: [
        ("", "v"), ("a b", "v"), ("a:", "v"), ("é", "v"), ("a\r\n", "v"),
        ("a", ""), ("a", "  "), ("a", "v\r\nb: w"), ("a", "v\0"),
    ])
    func `A header that would break the protocol is refused`(_ name: String, _ value: String) {
        #expect(!NATSHeaders.Field(name: name, value: value).isValid)
    }

    @Test func `A value may have blanks inside and letters of any language`() {
        #expect(NATSHeaders.Field(name: "Ink-Author", value: "ada lovelace é").isValid)
    }
}
