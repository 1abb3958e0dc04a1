import InkML
import StrokeWire
import Testing

/// InkML as other programs write it.
@Suite struct ReadingTests {
    static func file(_ content: String) -> [UInt8] {
        Array("<ink xmlns=\"http://www.w3.org/2003/InkML\">\(content)</ink>".utf8)
    }

    static func strokes(_ content: String) throws -> [InkDocument.Stroke] {
        try InkDocument(inkML: file(content)).strokes
    }

    /// The coordinates of the only stroke.
    static func path(_ content: String) throws -> [[Double]] {
        let strokes = try strokes(content)
        #expect(strokes.count == 1)
        return strokes.flatMap(\.points).map { [$0.x, $0.y] }
    }

    // MARK: Traces

    @Test func `a trace without a format has X and Y`() throws {
        #expect(
            try Self.path("<trace>4 0, 5 1.5, .5 -2., 1e2 3E-1</trace>") == [
                [4, 0], [5, 1.5], [0.5, -2], [100, 0.3],
            ])
    }

    @Test func `differences of both orders hold until another prefix`() throws {
        let trace = #"<trace>200 1000, '10'-20, "2"5, 1-3, -4 0, !50"1, '1!9, 2 8</trace>"#
        // Velocities 10, −20; 12, −15; 13, −18; 9, −18; then 50 as a value, −17; 1; 2.
        #expect(
            try Self.path(trace) == [
                [200, 1000], [210, 980], [222, 965], [235, 947], [244, 929], [50, 912], [51, 9], [53, 8],
            ])
    }

    @Test func `a star goes on with the value, the velocity, the acceleration`() throws {
        #expect(
            try Self.path(#"<trace>1 5, * *, '2 *, * *, "1 !7, * *, * 8</trace>"#) == [
                [1, 5], [1, 5], [3, 5], [5, 5], [8, 7], [12, 7], [17, 8],
            ])
    }

    @Test func `numbers need no blanks between them where signs and prefixes part them`() throws {
        #expect(try Self.path("<trace>3-5,-1.5.5,#1F#a,+2+3</trace>") == [[3, -5], [-1.5, 0.5], [31, 10], [2, 3]])
    }

    @Test func `a comma and blanks may follow the last point`() throws {
        #expect(try Self.path("<trace>\n 1 2 ,\t3 4 ,\n</trace>") == [[1, 2], [3, 4]])
        #expect(try Self.strokes("<trace> </trace><trace/>").isEmpty)
    }

    @Test func `intermittent channels may be left out, and go on as they were`() throws {
        let strokes = try Self.strokes(
            """
            <traceFormat><channel name="X"/><channel name="Y"/><intermittentChannels>
              <channel name="F" min="0" max="10"/><channel name="B1" type="boolean" default="F"/>
            </intermittentChannels></traceFormat>
            <trace>1 1, 2 2 5, 3 3, 4 4 ? T, 5 5 * *, 6 6 10F</trace>
            """)
        #expect(strokes.first?.points.map(\.force) == [nil, 0.5, 0.5, nil, nil, 1])
    }

    @Test func `long and precise numbers are the nearest ones`() throws {
        let numbers = [
            "0.1", "123456789012345678", "3.141592653589793238", "1e-7", "0.30000000000000004", "1234567.8901234567",
        ]
        for number in numbers { #expect(try Self.path("<trace>\(number) 0</trace>").first?.first == Double(number)) }
    }

    @Test(arguments: [
        ("1 2, 3", "1 of 2"), ("1 2 3", "more than 2"), ("1 x", "no number"), ("'1 2", "difference"),
        ("1 2, \"1 2", "second"),
        ("1 2,,3 4", "0 of 2"), ("1 -", "no number"), ("1 1e", "no number"), ("T 1", "boolean"), ("? 1", "no X"),
        ("1 1e999", "no number"), ("1 #", "no number"), ("1 2, 3 4\n5", "more than 2"), ("- 1", "1 of 2"),
    ])
    func `a trace with a fault is refused`(_ trace: String, _ message: String) throws {
        let error = try #require(throws: InkMLError.self) { try Self.strokes("<trace>\(trace)</trace>") }
        #expect(error.code == .badTrace)
        #expect(error.message.contains(message), "\(error)")
    }

    @Test func `an error has the line where it stands`() throws {
        let error = try #require(throws: InkMLError.self) {
            try InkDocument(inkML: Self.file("\n<trace>\n1 2,\n3 4,\n5 oops\n</trace>"))
        }
        #expect(error.line == 5)
        #expect(error.description.hasPrefix("line 5: bad-trace: "))
    }

    // MARK: Channels

    @Test func `channels come in any order, and unknown ones are passed over`() throws {
        let strokes = try Self.strokes(
            """
            <definitions><context xml:id="c"><traceFormat><channel name="T" units="s"/><channel name="Y"/>
            <channel name="smoothness"/><channel name="X"/></traceFormat></context></definitions>
            <trace contextRef="#c">0 7 99 3, 0.5 8 99 4</trace>
            """)
        #expect(
            strokes.first?.points == [
                StrokePoint(x: 3, y: 7, milliseconds: 0), StrokePoint(x: 4, y: 8, milliseconds: 500),
            ])
    }

    @Test func `values that grow upwards are turned over`() throws {
        let format = "<traceFormat><channel name=\"X\"/><channel name=\"Y\" orientation=\"-ve\"/></traceFormat>"
        #expect(try Self.path("\(format)<trace>1 2</trace>") == [[1, -2]])
        let source = """
            <context><inkSource xml:id="pad">\(format)<activeArea width="100" height="50" units="mm"/></inkSource></context>
            """
        let document = try InkDocument(inkML: Self.file("\(source)<trace>1 2</trace>"))
        #expect(document.size == InkDocument.Size(width: 100 * 96 / 25.4, height: 50 * 96 / 25.4))
        #expect(document.strokes.first?.points == [StrokePoint(x: 1, y: 50 * 96 / 25.4 - 2)])
    }

    @Test(
        arguments: [
            ("units=\"in\"", "", 96), ("units=\"cm\"", "", 37.795275590551185),
            ("units=\"pt\"", "", 1.3333333333333333),
            ("units=\"px\"", "", 1), ("units=\"cm\"", "value=\"1000\" units=\"1/cm\"", 0.03779527559055118),
            ("", "value=\"0.5\" units=\"mm\"", 1.8897637795275593), ("units=\"dev\"", "value=\"48\" units=\"1/in\"", 2),
            ("units=\"furlong\"", "", 1),
        ] as [(String, String, Double)])
    func `lengths are in units or device steps`(_ units: String, _ resolution: String, _ factor: Double) throws {
        let property = "<channelProperty channel=\"X\" name=\"resolution\" \(resolution)/>"
        let source = """
            <inkSource xml:id="s"><traceFormat><channel name="X" \(units)/><channel name="Y"/></traceFormat>
            <channelProperties>\(resolution.isEmpty ? "" : property)</channelProperties></inkSource>
            """
        let x = try Self.path("<context>\(source)</context><trace>10 0</trace>").first?.first ?? 0
        #expect(abs(x - 10 * factor) < 1e-9)
    }

    @Test func `angles are degrees unless they are radians`() throws {
        let strokes = try Self.strokes(
            """
            <traceFormat><channel name="X"/><channel name="Y"/><channel name="OE"/><channel name="OA" units="rad"/></traceFormat>
            <trace>0 0 90 1.5</trace>
            """)
        #expect(strokes.first?.points == [StrokePoint(x: 0, y: 0, altitude: .pi / 2, azimuth: 1.5)])
    }

    @Test func `tilts along both axes are an altitude and an azimuth`() throws {
        let strokes = try Self.strokes(
            """
            <traceFormat><channel name="X"/><channel name="Y"/><channel name="OTx"/><channel name="OTy"/></traceFormat>
            <trace>0 0 0 0, 0 0 45 0, 0 0 0 30, 0 0 -45 0</trace>
            """)
        let expected: [(Double, Double)] = [(.pi / 2, 0), (.pi / 4, 0), (.pi / 3, .pi / 2), (.pi / 4, .pi)]
        for (point, expected) in zip(try #require(strokes.first).points, expected) {
            #expect(abs((point.altitude ?? 9) - expected.0) < 1e-9)
            #expect(abs((point.azimuth ?? 9) - expected.1) < 1e-9)
        }
    }

    @Test func `force is a share of its range, or of the strongest of the file`() throws {
        func forces(_ channel: String, _ traces: String) throws -> [Double?] {
            let format =
                "<traceFormat><channel name=\"X\"/><channel name=\"Y\"/><channel name=\"F\" \(channel)/></traceFormat>"
            return try Self.strokes(format + traces).flatMap(\.points).map(\.force)
        }
        #expect(try forces("max=\"1024\"", "<trace>0 0 512, 0 0 2000</trace>") == [0.5, 1])
        #expect(try forces("min=\"100\" max=\"300\"", "<trace>0 0 150</trace>") == [0.25])
        #expect(try forces("units=\"%\"", "<trace>0 0 25</trace>") == [0.25])
        #expect(try forces("units=\"N\"", "<trace>0 0 2</trace><trace>0 0 8, 0 0 4</trace>") == [0.25, 1, 0.5])
        #expect(try forces("", "<trace>0 0 0.5</trace>") == [0.5])
        // A range that is larger than any number is none.
        #expect(
            try forces("min=\"-1e308\" max=\"1e308\"", "<trace>0 0 1e308, 0 0 5e307, 0 0 -1</trace>") == [1, 0.5, 0])
    }

    // MARK: Contexts and brushes

    @Test func `brushes and contexts inherit, and the nearest one counts`() throws {
        let strokes = try Self.strokes(
            """
            <definitions>
              <brush xml:id="pen"><brushProperty name="width" value="2" units="mm"/><brushProperty name="color" value="#102030"/></brush>
              <brush xml:id="red" brushRef="#pen"><brushProperty name="color" value="#FF0000"/></brush>
              <traceFormat xml:id="yx"><channel name="Y"/><channel name="X"/></traceFormat>
              <context xml:id="base" traceFormatRef="#yx" brushRef="#pen"/>
              <context xml:id="derived" contextRef="#base" brushRef="#red"/>
            </definitions>
            <trace contextRef="#base">1 2</trace>
            <trace contextRef="#derived">1 2</trace>
            <traceGroup contextRef="#base" brushRef="#red">
              <trace>1 2</trace><trace brushRef="pen">1 2</trace><traceGroup><trace contextRef="#base">1 2</trace></traceGroup>
            </traceGroup>
            <trace>1 2</trace>
            """)
        #expect(strokes.map(\.colour) == [0x102030, 0xff0000, 0xff0000, 0x102030, 0x102030, 0])
        #expect(strokes.map(\.points.first?.x) == [2, 2, 2, 2, 2, 1])
        let width = 2 * 96 / 25.4
        #expect(strokes.map(\.width) == [width, width, width, width, width, nil])
    }

    @Test func `a context outside of definitions is in force from there on`() throws {
        let strokes = try Self.strokes(
            """
            <trace>1 2</trace>
            <context><brush xml:id="b"><brushProperty name="color" value="#00ff00"/></brush></context>
            <trace>1 2</trace>
            <context><traceFormat><channel name="Y"/><channel name="X"/></traceFormat></context>
            <trace>1 2</trace>
            """)
        #expect(strokes.map(\.colour) == [0, 0x00ff00, 0x00ff00])
        #expect(strokes.map(\.points.first?.x) == [1, 1, 2])
    }

    @Test func `only drawn traces are strokes`() throws {
        let strokes = try Self.strokes(
            """
            <definitions><trace xml:id="hidden">1 1</trace><traceGroup xml:id="shown"><trace>2 2</trace></traceGroup></definitions>
            <trace xml:id="a">3 3</trace><trace type="penUp">4 4</trace><traceView traceDataRef="#a"/>
            <traceView traceDataRef="#shown"/><annotationXML><x xmlns="urn:x"><trace>5 5</trace></x></annotationXML>
            """)
        #expect(strokes.map { $0.points.map(\.x) } == [[3], [2]])
    }

    @Test func `continued traces are one stroke`() throws {
        let strokes = try Self.strokes(
            """
            <trace xml:id="a" continuation="begin">1 1</trace><trace>9 9</trace>
            <trace xml:id="b" continuation="middle" priorRef="#a">2 2</trace>
            <trace continuation="end" priorRef="#b">3 3</trace>
            """)
        #expect(strokes.map { $0.points.map(\.x) } == [[1, 2, 3], [9]])
    }

    // MARK: Times

    @Test func `times count from the trace, from a timestamp, or from the beginning of the ink`() throws {
        func times(_ channel: String, _ traces: String) throws -> [[Double?]] {
            let content = """
                <definitions><timestamp xml:id="t" time="1000"/><timestamp xml:id="u" timestampRef="#t" timeOffset="500"/>
                <context xml:id="c" timestampRef="#u"><traceFormat><channel name="X"/><channel name="Y"/>
                <channel name="T" \(channel)/></traceFormat></context></definitions>
                <traceGroup contextRef="#c">\(traces)</traceGroup>
                """
            return try Self.strokes(content).map { [$0.time.map(Double.init)] + $0.points.map(\.milliseconds) }
        }
        #expect(try times("", "<trace timeOffset=\"20\">0 0 5, 0 0 10</trace>") == [[1520, 5, 10]])
        #expect(try times("", "<trace>0 0 7.5, 0 0 10</trace><trace>0 0 40</trace>") == [[1507, 0.5, 3], [1540, 0]])
        #expect(try times("respectTo=\"#t\"", "<trace>0 0 7, 0 0 9</trace>") == [[1007, 0, 2]])
        #expect(try times("respectTo=\"#t\"", "<trace timeOffset=\"-600\">0 0 7</trace>") == [[900, 107]])
        // A trace without an offset goes on counting from that of the trace that it continues.
        let begin = "<trace xml:id=\"a\" continuation=\"begin\" timeOffset=\"20\">0 0 5, 0 0 10</trace>"
        #expect(
            try times("", begin + "<trace continuation=\"end\" priorRef=\"#a\">0 0 15</trace>") == [[1520, 5, 10, 15]])
        #expect(
            try times("", begin + "<trace continuation=\"end\" priorRef=\"#a\" timeOffset=\"30\">0 0 2</trace>")
                == [[1520, 5, 10, 12]])
        let early = "<trace xml:id=\"a\" continuation=\"begin\">0 0 7.5</trace>"
        #expect(
            try times("", early + "<trace continuation=\"end\" priorRef=\"#a\">0 0 40</trace>") == [[1507, 0.5, 33]])
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:01Z", 1000), ("2011-09-20T12:30:00.250+02:00", 1_316_514_600_250),
            ("1969-12-31T23:59:59Z", -1000), ("2024-02-29T00:00:00", 1_709_164_800_000),
        ] as [(String, Int64)])
    func `a timestamp may be a date`(_ text: String, _ milliseconds: Int64) throws {
        let strokes = try Self.strokes(
            "<context><timestamp xml:id=\"t\" timeString=\"\(text)\"/></context><trace timeOffset=\"0\">0 0</trace>")
        #expect(strokes.first?.time == milliseconds)
    }

    // MARK: Files

    @Test func `UTF-16, ISO-8859-1 and files without a namespace are read`() throws {
        let text =
            "<?xml version=\"1.0\" encoding=\"ENC\"?>\n<ink><traceGroup><annotation type=\"author\">zoë</annotation>"
            + "<trace id=\"1\">1 2</trace></traceGroup></ink>"
        let wide = Array(text.replacing("ENC", with: "UTF-16").utf16)
        let files: [[UInt8]] = [
            Array(text.replacing("ENC", with: "utf-8").utf8),
            [0xef, 0xbb, 0xbf] + Array(text.replacing("ENC", with: "UTF-8").utf8),
            [0xff, 0xfe] + wide.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] },
            wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] },
            text.replacing("ENC", with: "ISO-8859-1").unicodeScalars.map { UInt8($0.value) },
        ]
        for file in files {
            let stroke = try #require(try InkDocument(inkML: file).strokes.first)
            #expect(stroke.author == "zoë")
            #expect(stroke.points == [StrokePoint(x: 1, y: 2)])
        }
    }
}

/// Ink that comes to lie on a board of another size.
@Suite struct FittingTests {
    @Test func `ink of a smaller board fills the larger one in its shape`() {
        let stroke = InkDocument.Stroke(width: 4, points: [StrokePoint(x: 0, y: 0), StrokePoint(x: 100, y: 100)])
        let document = InkDocument(size: .init(width: 100, height: 100), pages: [.init(strokes: [stroke])])
        let fitted = document.fitted(to: .init(width: 400, height: 200))
        #expect(fitted.strokes.first?.points == [StrokePoint(x: 100, y: 0), StrokePoint(x: 300, y: 200)])
        #expect(fitted.strokes.first?.width == 8)
        #expect(fitted.size == .init(width: 400, height: 200))
    }

    @Test func `ink without a board gets a margin`() throws {
        let stroke = InkDocument.Stroke(points: [StrokePoint(x: -3, y: 7), StrokePoint(x: -1, y: 8)])
        let document = InkDocument(pages: [.init(strokes: [stroke])])
        let points = try #require(document.fitted(to: .init(width: 320, height: 160)).strokes.first).points
        #expect(points == [StrokePoint(x: 20, y: 10), StrokePoint(x: 300, y: 150)])
    }

    @Test(arguments: [("1e308", "in"), ("1e13", "dev"), ("1e-300", "m"), ("1e-7", "dev")])
    func `a writing surface of no sensible size is unknown`(_ side: String, _ units: String) throws {
        let document = try InkDocument(
            inkML: ReadingTests.file(
                """
                <context><inkSource xml:id="s"><traceFormat><channel name="X" orientation="-ve"/><channel name="Y"/></traceFormat>
                <activeArea width="\(side)" height="\(side)" units="\(units)"/></inkSource></context>
                <trace>1 1, 10 10, 20 5</trace>
                """))
        #expect(document.size == nil)
        let points = document.fitted(to: .init(width: 320, height: 160)).strokes.flatMap(\.points)
        #expect(points.map(\.x).allSatisfy { (0...320).contains($0) })
        #expect(points.map(\.y).allSatisfy { (0...160).contains($0) })
    }

    @Test func `a board of no sensible size scales nothing`() throws {
        let stroke = InkDocument.Stroke(points: [StrokePoint(x: 3, y: 7), StrokePoint(x: -1, y: 8)])
        for side in [Double.infinity, .leastNonzeroMagnitude] {
            let document = InkDocument(size: .init(width: side, height: side), pages: [.init(strokes: [stroke])])
            let points = document.fitted(to: .init(width: 320, height: 160)).strokes.flatMap(\.points)
            #expect(points.allSatisfy { abs($0.x) <= 65536 && abs($0.y) <= 65536 }, "\(side)")
        }
    }

    @Test func `a single point lies in the middle`() throws {
        let document = InkDocument(pages: [.init(strokes: [.init(points: [StrokePoint(x: 1e300, y: -5)])])])
        let stroke = try #require(document.fitted(to: .init(width: 1024, height: 768)).strokes.first)
        #expect(stroke.points == [StrokePoint(x: 512, y: 384)])
        #expect(stroke.width == 3)
    }

    @Test func `widths and coordinates stay within a message's limits`() throws {
        let stroke = InkDocument.Stroke(width: 1e9, points: [StrokePoint(x: 1e9, y: 5)])
        let document = InkDocument(size: .init(width: 10, height: 10), pages: [.init(strokes: [stroke])])
        let fitted = try #require(document.fitted(to: .init(width: 1024, height: 768)).strokes.first)
        #expect(fitted.width == 512)
        #expect(fitted.points.first?.x == 65536)
    }
}
