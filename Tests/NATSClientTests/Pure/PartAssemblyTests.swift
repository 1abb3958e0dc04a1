import TestSupport
import Testing

@testable import NATSClient

@Suite struct PartAssemblyTests {
    private func part(_ number: String?, _ payload: [UInt8] = []) -> NATSReply {
        NATSReply(subject: "_INBOX.x.1", payload: payload, headers: number.map { ["Ink-Part": $0] } ?? [:])
    }

    @Test func `A reply without a part number is whole`() throws {
        var assembly = PartAssembly(maxBytes: 100)
        let whole = try assembly.receive(part(nil, [1, 2]))
        #expect(whole?.payload == [1, 2])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `Parts in any order, some of them repeated, give the body back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let body = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let count = Int.random(in: 1...12, using: &random)
        let cuts = [0] + (1..<count).map { _ in Int.random(in: 0...body.count, using: &random) }.sorted() + [body.count]
        let parts = (1...count).map { part("\($0)/\(count)", Array(body[cuts[$0 - 1]..<cuts[$0]])) }
        let arrivals = (parts + parts.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
        var assembly = PartAssembly(maxBytes: body.count)
        var whole: NATSReply?
        var seen: Set<String> = []
        for arrival in arrivals where whole == nil {
            whole = try assembly.receive(arrival)
            seen.insert(arrival.header("Ink-Part") ?? "")
            #expect((whole != nil) == (seen.count == count), "seed \(seed)")
        }
        #expect(whole?.payload == body, "seed \(seed)")
    }

    @Test(arguments: [
        "", "1", "1/", "/1", "0/1", "2/1", "-1/3", "1/0", "a/b", "1/2/3", "1/5000", "1/99999999999999999999",
    ])
    func `A part number that says nothing is an error`(_ number: String) {
        var assembly = PartAssembly(maxBytes: 100)
        #expect(throws: NATSError.self) { try assembly.receive(part(number)) }
    }

    @Test func `Parts of another count do not mix in`() throws {
        var assembly = PartAssembly(maxBytes: 100)
        let wholes = try [part("1/2", [1]), part("2/3", [9]), part("2/2", [2])].map {
            try assembly.receive($0)?.payload
        }
        #expect(wholes == [nil, nil, [1, 2]])
    }

    @Test func `More bytes than allowed are an error`() throws {
        var assembly = PartAssembly(maxBytes: 3)
        _ = try assembly.receive(part("1/2", [1, 2]))
        #expect(throws: NATSError.replyTooLarge(limit: 3)) { try assembly.receive(part("2/2", [3, 4])) }
    }
}
