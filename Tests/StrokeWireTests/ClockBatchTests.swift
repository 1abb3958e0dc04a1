import StrokeWire
import TestSupport
import Testing

/// Clock samples of many rooms in one message.
@Suite struct ClockBatchTests {
    private func sample(_ milliseconds: Int64) -> ClockSample {
        ClockSample(media: MediaTime(milliseconds: milliseconds))
    }

    private func rooms(_ count: Int) throws -> [RoomID] { try (0..<count).map { try #require(RoomID("room-\($0)")) } }

    private func batch(_ text: String) throws -> ClockBatch { try ClockBatch(decoding: Array(text.utf8)) }

    @Test func `A message reads back as it was written, within its limit`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let cohorts = [CohortName.main, try #require(CohortName("hls")), try #require(CohortName("a"))]
        for _ in 0..<100 {
            var batch = ClockBatch()
            for room in try rooms(random.int(0...256)) {
                for cohort in cohorts where random.chance(1, in: 2) {
                    #expect(
                        batch.add(sample(.random(in: -1000...1 << 50, using: &random)), room: room, cohort: cohort)
                            == true)
                }
            }
            let bytes = batch.encoded()
            #expect(bytes.count <= ClockBatch.byteLimit, "seed \(random.seed)")
            #expect(try ClockBatch(decoding: bytes).samples == batch.samples, "seed \(random.seed)")
        }
    }

    @Test func `A message takes 256 rooms, and no more bytes than it may have`() throws {
        var batch = ClockBatch()
        let rooms = try rooms(257)
        for room in rooms[..<256] { #expect(batch.add(sample(1), room: room, cohort: .main) == true) }
        #expect(batch.add(sample(1), room: rooms[256], cohort: .main) == false)
        #expect(batch.add(sample(2), room: rooms[0], cohort: .main) == true)

        var long = ClockBatch()
        var sample = sample(1)
        sample.stream = String(repeating: "\u{1}", count: 64)
        var added = 0
        for number in 0... {
            let cohort = try #require(CohortName("cohort-\(number)"))
            guard long.add(sample, room: rooms[0], cohort: cohort) else { break }
            added += 1
        }
        #expect(added > 200)
        #expect(long.encoded().count <= ClockBatch.byteLimit)
        #expect(try ClockBatch(decoding: long.encoded()).samples[rooms[0]]?.count == added)
    }

    @Test func `Members that are none of a room or a cohort are counted, and the others read`() throws {
        let batch = try batch(#"{"Physics":{"main":{"m":1}},"a":7,"b":{"main":{"m":2},"head":{"m":3},"hls":4},"c":{}}"#)
        let names = try ["b", "c"].map { try #require(RoomID($0)) }
        #expect(batch.samples == [names[0]: [.main: Array(#"{"m":2}"#.utf8)], names[1]: [:]])
        #expect(batch.rejected == 4)
    }

    @Test(arguments: [
        ("", RejectionCode.notJSON), ("[]", .wrongType), (#"{"a":{"main":{"m":1}}"#, .notJSON),
        (#"{"a":{"main":}}"#, .notJSON),
    ])
    func `A message that cannot be read is refused whole`(_ text: String, _ code: RejectionCode) {
        #expect(#expect(throws: Rejection.self) { try batch(text) }?.code == code)
    }

    @Test func `A message with more rooms, or more bytes, is refused whole`() throws {
        let members = try rooms(257).map { "\"\($0)\":{}" }.joined(separator: ",")
        #expect(#expect(throws: Rejection.self) { try batch("{\(members)}") }?.code == .outOfRange)
        let space = String(repeating: " ", count: ClockBatch.byteLimit)
        #expect(#expect(throws: Rejection.self) { try batch("{}\(space)") }?.code == .tooLarge)
    }

    @Test func `The subject says the partition`() {
        for partition in [0, 7, 1023] {
            let subject = ClockBatch.subject(root: "ink", partition: partition)
            #expect(ClockBatch.partition(ofSubject: subject, root: "ink") == partition)
        }
        for other in ["ink.clocks", "ink.x.clocks", "ink.01.clocks", "ink.0.clock", "in.0.clocks", "ink.0.a.clocks"] {
            #expect(ClockBatch.partition(ofSubject: other, root: "ink") == nil)
        }
    }
}
