import StrokeWire
import TestSupport
import Testing
import VideoTiming

@Suite struct SEITests {
    @Test(arguments: [TimeForm.binary, .text, .json(key: "now"), .misb], VideoCodec.allCases)
    func `a written time is read again in each form and framing`(_ form: TimeForm, _ codec: VideoCodec) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<200 {
            let time = MediaTime(milliseconds: Int64.random(in: 0...(1 << random.int(1...52)), using: &random))
            let stamp = PictureStamp(form: form)
            let unit = SEIMessages.unit(
                UserData(identifier: stamp.identifier, payload: form.write(time)), codec, slice: 1)
            let slice = SyntheticVideo.unit(codec, .slice, first: 0x88, &random)
            let delimiter = SyntheticVideo.unit(codec, .delimiter, first: 0xf0, &random)
            let units = [delimiter, unit, slice]
            let reader = PictureTimeReader(key: "now")
            let raw = SyntheticVideo.delimited(units)
            #expect(reader.time(of: raw.span, .startCodes, codec) == time)
            #expect(!unit.containsStartCode)
            for size in [1, 2, 4] where size > 1 || unit.count < 256 {
                let measured = SyntheticVideo.measured(units, size)
                #expect(reader.time(of: measured.span, .lengths(bytes: size), codec) == time)
            }
        }
    }

    @Test func `the time stamp of MISB ST 0604 has its bytes where the standard puts them`() {
        let time = MediaTime(microseconds: 0x0004_59f4_a6aa_4aa8)
        let bytes: [UInt8] = [0x9f, 0x00, 0x04, 0xff, 0x59, 0xf4, 0xff, 0xa6, 0xaa, 0xff, 0x4a, 0xa8]
        #expect(TimeForm.misb.write(time) == bytes)
        #expect(TimeForm.read(bytes, identifier: .misbMicrosecondsH265, key: "t") == time)
        #expect(UserDataID("4d495350-6d69-6372-6f73-656374696d65") == .misbMicroseconds)
    }

    @Test(arguments: [
        ("1700000000123", 1_700_000_000_123_000), (" 42.5\n", 42_500), ("-7", -7000), ("12345678", 12_345_678_000),
        (#"{"a":[1],"t":1234.5}"#, 1_234_500),
    ])
    func `text and JSON are read with fractions, signs and blanks`(_ text: String, _ microseconds: Int64) {
        #expect(TimeForm.read(Array(text.utf8), key: "t") == MediaTime(microseconds: microseconds))
    }

    @Test(arguments: ["", "x264 - core 164", "nan", "1e400", "0x10", "{}", #"{"t":"1"}"#, #"{"t":1"#, "1 2"])
    func `a malformed time is none`(_ text: String) {
        #expect(TimeForm.read(Array(text.utf8), key: "t") == nil)
    }

    @Test func `user data with other identifiers is passed over`() throws {
        let foreign = try #require(UserDataID("dc45e9bd-e6d9-48b7-962c-d820d923eeef"))
        #expect(foreign.description == "dc45e9bd-e6d9-48b7-962c-d820d923eeef")
        let units = [
            UserData(identifier: foreign, payload: Array("1".utf8)),
            UserData(identifier: .lectern, payload: Array("2".utf8)),
        ].map { SEIMessages.unit($0, .h264, slice: 0) }
        let raw = SyntheticVideo.delimited(units + [[0x41, 0x88]])
        #expect(PictureTimeReader().time(of: raw.span, .startCodes, .h264) == MediaTime(milliseconds: 2))
        #expect(
            PictureTimeReader(identifiers: [foreign]).time(of: raw.span, .startCodes, .h264)
                == MediaTime(milliseconds: 1))
    }

    @Test func `damaged pictures are read without a fault`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<3000 {
            let codec = random.pick(VideoCodec.allCases)
            let stamp = SEIMessages.unit(
                UserData(identifier: .lectern, payload: TimeForm.binary.write(MediaTime(milliseconds: 5))), codec,
                slice: 1)
            var bytes = [0, 0, 1] + stamp + [0, 0, 1] + SyntheticVideo.unit(codec, .slice, first: 0x88, &random)
            for _ in 0..<random.int(1...6) { bytes[random.int(0..<bytes.count)] = UInt8(random.int(0...255)) }
            if round % 2 == 0 { bytes.removeLast(random.int(0...bytes.count)) }
            for framing in [NALFraming.startCodes, .lengths(bytes: 1), .lengths(bytes: 2), .lengths(bytes: 4)] {
                _ = PictureTimeReader().time(of: bytes.span, framing, codec)
            }
        }
    }
}

extension [UInt8] {
    var containsStartCode: Bool {
        indices.dropLast(2).contains { self[$0] == 0 && self[$0 + 1] == 0 && self[$0 + 2] <= 2 }
    }
}
