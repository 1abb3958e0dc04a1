import StrokeWire
import TestSupport
import Testing
import VideoTiming

@Suite struct HLSPlaylistTests {
    private static let live = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:17
        #EXT-X-DISCONTINUITY-SEQUENCE:2
        #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24.0,HOLD-BACK=10.5
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
        #EXTINF:4.0,
        #EXT-X-PROGRAM-DATE-TIME:2026-11-23T15:00:00.500+01:00
        a.m4s
        #EXTINF:3.5,title, with a comma
        b.m4s
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=AES-128,URI="https://k/1?a=b,c",IV=0xAB
        #EXTINF:4,
        #EXT-X-GAP
        c.m4s

        """

    @Test func `a media playlist is read with dates, discontinuities, keys and gaps`() throws {
        guard case .media(let list) = HLSPlaylist(Self.live) else { throw Unexpected("no media playlist") }
        #expect(list.targetDuration == 4_000_000 && list.firstNumber == 17 && list.nextNumber == 20 && !list.isEnded)
        #expect(list.holdBack == 10_500_000 && !list.isProtected)
        let first = try #require(CalendarTime.read("2026-11-23T14:00:00.5Z"))
        #expect(list.segments.map(\.date) == [first, first + 4_000_000, nil])
        #expect(list.segments.map(\.discontinuity) == [2, 2, 3])
        #expect(list.segments.map(\.isGap) == [false, false, true])
        #expect(list.segments[2].key?.uri == "https://k/1?a=b,c")
        #expect(list.segments[2].key?.vector == String(repeating: "0", count: 30) + "ab")
        #expect(list.segments[0].map?.range?.offset == 0 && list.segments[0].map?.range?.length == 720)
    }

    @Test func `no segment is longer than the target duration`() {
        guard case .media(let list) = HLSPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:0\n#EXTINF:0.48,\na.ts\n") else {
            Issue.record("no list")
            return
        }
        #expect(list.targetDuration == 480_000)
    }

    @Test func `a playlist of variants is read with their bandwidths`() {
        let text = """
            #EXTM3U\r
            #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42E01E,mp4a.40.2"\r
            low/index.m3u8\r
            #EXT-X-STREAM-INF:CODECS="avc1",BANDWIDTH=2000000\r
            high.m3u8\r
            """
        guard case .variants(let variants) = HLSPlaylist(text) else {
            Issue.record("no variants")
            return
        }
        #expect(variants.map(\.uri) == ["low/index.m3u8", "high.m3u8"])
        #expect(variants.map(\.bandwidth) == [800_000, 2_000_000])
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2000-03-01T00:00:00.000001Z", 951_868_800_000_001),
        ("2024-02-29T23:59:59.999-0130", 1_709_256_599_999_000), ("2026-11-23T15:00:00", 1_795_446_000_000_000),
    ])
    func `dates are read as ISO 8601 has them`(_ text: String, _ microseconds: Int64) {
        #expect(CalendarTime.read(text[...]) == MediaTime(microseconds: microseconds))
    }

    @Test(arguments: [
        "", "2026-11-23", "2026-11-23T15:00:00.Z", "2026-11-23T15:00:00+01:", "2026-11-23T15:00:00Z[Etc/UTC]",
    ])
    func `another text is no date`(_ text: String) {
        #expect(CalendarTime.read(text[...]) == nil)
    }

    @Test func `a date counts whether it stands before or behind its discontinuity`() throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-11-23T15:00:00Z\n"
        for tags in [date + "#EXT-X-DISCONTINUITY\n", "#EXT-X-DISCONTINUITY\n" + date] {
            let text =
                "#EXTM3U\n#EXTINF:4,\na.ts\n" + tags + "#EXTINF:4,\nb.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:4,\nc.ts\n"
            guard case .media(let list) = HLSPlaylist(text) else { throw Unexpected("no media playlist") }
            #expect(list.segments.map(\.date) == [nil, CalendarTime.read("2026-11-23T15:00:00Z"), nil])
        }
    }

    @Test func `a sequence number behind a segment changes nothing`() throws {
        let text = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:4,\na.ts\n#EXT-X-MEDIA-SEQUENCE:90\n#EXTINF:4,\nb.ts\n"
        guard case .media(let list) = HLSPlaylist(text) else { throw Unexpected("no media playlist") }
        #expect(list.firstNumber == 7 && list.segments.map(\.number) == [7, 8])
    }

    @Test func `a range without an offset begins behind the segment before, whatever map comes between`() throws {
        let text = """
            #EXTM3U
            #EXTINF:4,
            #EXT-X-BYTERANGE:1000@720
            all.mp4
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="720@0"
            #EXTINF:4,
            #EXT-X-BYTERANGE:500
            all.mp4

            """
        guard case .media(let list) = HLSPlaylist(text) else { throw Unexpected("no media playlist") }
        #expect(list.segments.map(\.range?.offset) == [720, 1720])
    }

    @Test func `a key in a format of others is passed over, and alone it protects the list`() throws {
        let own = "#EXT-X-KEY:METHOD=AES-128,URI=\"own\"\n"
        let other = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://1\",KEYFORMAT=\"com.apple\"\n"
        for (tags, uri) in [(own + other, "own"), (other + own, "own"), (other, nil)] {
            let text = "#EXTM3U\n" + tags + "#EXTINF:4,\na.ts\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\nb.ts\n"
            guard case .media(let list) = HLSPlaylist(text) else { throw Unexpected("no media playlist") }
            #expect(list.segments.map(\.key?.uri) == [uri, nil] && list.isProtected == (uri == nil))
        }
    }

    @Test func `a damaged playlist is read without a fault`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<2000 {
            var bytes = Array(Self.live.utf8)
            for _ in 0..<random.int(1...8) { bytes[random.int(8..<bytes.count)] = UInt8(random.int(0...255)) }
            guard case .media(let list) = HLSPlaylist(String(decoding: bytes, as: UTF8.self)) else { continue }
            var session = HLSSession()
            session.receive(list, at: 0)
            for _ in 0..<10 { if case .load(let segment, _) = session.action() { session.loaded(segment) } }
        }
    }

    @Test(arguments: [
        ("b.ts", "https://h/p/a.m3u8?x=/y", "https://h/p/b.ts"), ("/b.ts", "https://h:8/p/a.m3u8", "https://h:8/b.ts"),
        ("../b.ts?q=1/2", "http://h/p/q/a.m3u8", "http://h/p/b.ts?q=1/2"), ("//c/b", "https://h/a", "https://c/b"),
        ("http://c/b", "https://h/a", "http://c/b"), ("b.ts", "dir/a.m3u8", "dir/b.ts"), ("b.ts", "a.m3u8", "b.ts"),
        ("b.ts", "/x/a.m3u8", "/x/b.ts"), ("/y/b.ts", "/x/a.m3u8", "/y/b.ts"), ("b.ts", "http://h", "http://h/b.ts"),
    ])
    func `references are resolved as RFC 3986 says`(_ reference: String, _ base: String, _ expected: String) {
        #expect(URLReference.resolve(reference, base: base) == expected)
    }
}

@Suite struct HLSSessionTests {
    private var session = HLSSession()

    private func list(_ first: Int, _ count: Int, discontinuityBefore: Int? = nil, ended: Bool = false) throws
        -> MediaPlaylist
    {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        for number in first..<first + count {
            if number == discontinuityBefore { text += "#EXT-X-DISCONTINUITY\n" }
            text += "#EXTINF:2,\n\(number).ts\n"
        }
        if ended { text += "#EXT-X-ENDLIST\n" }
        guard case .media(let list) = HLSPlaylist(text) else { throw Unexpected("no list") }
        return list
    }

    private func loads(_ session: inout HLSSession) -> [String] {
        var names: [String] = []
        while case .load(let segment, _) = session.action() {
            names.append(segment.uri)
            session.loaded(segment)
        }
        return names
    }

    @Test
    mutating func `a live stream begins three target durations before its end and goes on segment by segment`() throws {
        session.receive(try list(10, 6), at: 0)
        #expect(loads(&session) == ["13.ts", "14.ts", "15.ts"])
        #expect(session.skip == 0)
        #expect(session.action() == .reload(at: 2_000_000))
        session.receive(try list(10, 6), at: 2_000_000)
        #expect(session.action() == .reload(at: 3_000_000))
        session.receive(try list(12, 6), at: 3_000_000)
        #expect(loads(&session) == ["16.ts", "17.ts"])
        session.receive(try list(13, 6, ended: true), at: 5_000_000)
        #expect(loads(&session) == ["18.ts"])
        #expect(session.action() == .end)
    }

    @Test func `a distance within a segment is kept to`() throws {
        var session = HLSSession(.holdBack(3_000_000))
        session.receive(try list(0, 6), at: 0)
        #expect(session.skip == 1_000_000)
        #expect(loads(&session) == ["4.ts", "5.ts"])
    }

    @Test mutating func `a young stream is begun late, not near its end`() throws {
        session.receive(try list(0, 1), at: 0)
        #expect(session.skip == -4_000_000)
        #expect(loads(&session) == ["0.ts"])
    }

    @Test mutating func `a complete stream is played from its beginning`() throws {
        session.receive(try list(0, 3, ended: true), at: 0)
        #expect(loads(&session) == ["0.ts", "1.ts", "2.ts"])
        #expect(session.action() == .end)
    }

    @Test mutating func `segments that are gone or cannot be read are lost, and it goes on`() throws {
        session.receive(try list(0, 3), at: 0)
        _ = loads(&session)
        session.receive(try list(8, 3), at: 9_000_000)
        guard case .load(let segment, _) = session.action() else { throw Unexpected("nothing to load") }
        #expect(segment.number == 8 && session.lost == 5)
        let retries = (0..<3).map { _ in session.failed(segment) }
        #expect(retries == [true, true, false])
        #expect(session.lost == 6)
        #expect(loads(&session) == ["9.ts", "10.ts"])
    }

    @Test func `a discontinuity and a list that begins again are new time lines`() throws {
        var session = HLSSession(.first)
        session.receive(try list(5, 2, discontinuityBefore: 6), at: 0)
        var times: [Bool] = []
        while case .load(let segment, let isNew) = session.action() {
            times.append(isNew)
            session.loaded(segment)
        }
        #expect(times == [false, true])
        session.receive(try list(0, 2), at: 1_000_000)
        guard case .load(let segment, let isNew) = session.action() else { throw Unexpected("nothing to load") }
        #expect(segment.number == 0 && isNew && session.restarts == 1)
    }

    @Test(arguments: 1...3)
    func `a list that is some segments older comes from another server, and nothing begins anew`(
        _ lag: Int
    ) throws {
        var session = HLSSession(.first)
        session.receive(try list(100, 6), at: 0)
        _ = loads(&session)
        session.receive(try list(100 - lag, 6), at: 1_000_000)
        #expect(loads(&session) == [] && session.restarts == 0 && session.lost == 0)
        session.receive(try list(101, 6), at: 2_000_000)
        guard case .load(let segment, let isNew) = session.action() else { throw Unexpected("nothing to load") }
        #expect(segment.number == 106 && !isNew)
    }
}

@Suite struct ID3TagTests {
    static func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0, 0, UInt8(content.count >> 7), UInt8(content.count & 0x7f), 0, 0] + content
    }

    static func tag(_ frames: [[UInt8]]) -> [UInt8] {
        let body = Array(frames.joined())
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, UInt8(body.count >> 7), UInt8(body.count & 0x7f)] + body
    }

    @Test func `times stand in TXXX and PRIV frames, Apple's time stamp is none of them`() {
        let apple = Self.frame("PRIV", Array(ID3Tag.transportTimestamp.utf8) + [0, 0, 0, 0, 0, 0, 0, 0x12, 0x34])
        let owned = Self.frame(
            "PRIV", Array("org.example".utf8) + [0] + TimeForm.binary.write(MediaTime(milliseconds: 9)))
        let text = Self.frame("TXXX", [3] + Array("now".utf8) + [0] + Array("1234.5".utf8))
        let wide = Self.frame(
            "TXXX", [1] + "\u{feff}n\u{0}\u{feff}77".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
        #expect(ID3Tag(Self.tag([apple, owned])).time(named: nil, key: "t") == MediaTime(milliseconds: 9))
        #expect(ID3Tag(Self.tag([apple])).time(named: nil, key: "t") == nil)
        #expect(ID3Tag(Self.tag([apple, owned, text])).time(named: "now", key: "t") == MediaTime(milliseconds: 1234.5))
        #expect(ID3Tag(Self.tag([wide])).time(named: "n", key: "t") == MediaTime(milliseconds: 77))
        #expect(
            ID3Tag(Self.tag([apple])).time(named: ID3Tag.transportTimestamp, key: "t")
                == MediaTime(milliseconds: 0x1234))
    }

    @Test func `a tag without its first five bytes is read too`() {
        let tag = Self.tag([Self.frame("TXXX", [3, 0x61, 0, 0x37])])
        #expect(ID3Tag(Array(tag.dropFirst(5))).time(named: "a", key: "t") == MediaTime(milliseconds: 7))
    }

    @Test func `a damaged tag is read without a fault`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        let good = Self.tag([Self.frame("TXXX", [3, 0x61, 0, 0x31]), Self.frame("PRIV", [0x61, 0, 0x31])])
        for _ in 0..<5000 {
            var bytes = good
            for _ in 0..<random.int(1...4) { bytes[random.int(3..<bytes.count)] = UInt8(random.int(0...255)) }
            if random.chance(1, in: 3) { bytes.removeLast(random.int(0..<bytes.count)) }
            _ = ID3Tag(bytes).time(named: nil, key: "t")
        }
    }
}

@Suite struct StreamTimestampsTests {
    @Test func `times of MPEG-TS go on over the wrap of 33 bits`() throws {
        var times = StreamTimestamps()
        let wrap: Int64 = 1 << 33
        let read = { (times: inout StreamTimestamps, presentation: Int64, decoding: Int64) in
            times.read(presentation: presentation, decoding: decoding, numerator: 1, denominator: 90_000, wrapBits: 33)
        }
        let before = try #require(read(&times, wrap - 3600, wrap - 7200))
        #expect(before.presentation - before.decoding == 40_000)
        let across = try #require(read(&times, 0, wrap - 3600))
        #expect(across.presentation - before.presentation == 40_000 && across.decoding - before.decoding == 40_000)
        let after = try #require(read(&times, 3600, 0))
        #expect(after.presentation - before.presentation == 80_000)
    }

    @Test func `times beyond all measure are none`() {
        var times = StreamTimestamps()
        for value in [Int64.max, .min, .max - 1] {
            #expect(times.read(presentation: value, decoding: value, numerator: 1, denominator: 1, wrapBits: 64) == nil)
            _ = times.read(presentation: 0, decoding: value, numerator: 1, denominator: 90_000, wrapBits: 33)
        }
    }
}
