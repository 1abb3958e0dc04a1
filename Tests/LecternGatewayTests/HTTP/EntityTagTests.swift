import Testing

@testable import LecternGateway

@Suite("Entity tags")
struct EntityTagTests {
    @Test("length and FNV-1a of 64 bits")
    func text() {
        #expect(EntityTag(of: []).text == "\"0-cbf29ce484222325\"")
        #expect(EntityTag(of: Array("foobar".utf8)).text == "\"6-85944171f73967e8\"")
        #expect(EntityTag(of: [1]) != EntityTag(of: [2]))
    }

    @Test(
        "If-None-Match names it alone, in a list, weakly, or as any",
        arguments: ["TAG", "W/TAG", "\"x\", TAG", "\"x\",\tW/TAG ,\"y\"", "*", " * "])
    func matches(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(tag.matches(header.replacing("TAG", with: tag.text)))
    }

    @Test("other headers do not", arguments: ["", "\"x\"", "w/TAG", ",", "TAGx", "**"])
    func doesNotMatch(header: String) {
        let tag = EntityTag(of: [1, 2, 3])
        #expect(!tag.matches(header.replacing("TAG", with: tag.text)))
    }
}
