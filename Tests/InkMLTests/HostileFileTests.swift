import InkML
import StrokeWire
import TestSupport
import Testing

/// Files that want to do harm, or are broken: an error with a code, in bounded time and memory.
@Suite struct HostileFileTests {
    private static func refusal(_ bytes: [UInt8], limits: InkMLLimits = InkMLLimits()) throws -> InkMLError {
        try #require(throws: InkMLError.self) { try InkDocument(inkML: bytes, limits: limits) }
    }

    private static func refusal(_ content: String, limits: InkMLLimits = InkMLLimits()) throws -> InkMLError {
        try refusal(ReadingTests.file(content), limits: limits)
    }

    @Test(arguments: [
        "<!DOCTYPE ink><ink/>", "<!DOCTYPE ink SYSTEM \"file:///etc/passwd\"><ink/>",
        "<!DOCTYPE ink PUBLIC \"a\" \"http://127.0.0.1:1/x.dtd\"><ink/>",
        "<!DOCTYPE ink [<!ENTITY a \"1 2\">]><ink><trace>&a;</trace></ink>",
        "<!DOCTYPE ink [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><ink><trace>&a;</trace></ink>",
        "<!DOCTYPE ink [<!ENTITY % p SYSTEM \"http://127.0.0.1:1/x\"> %p;]><ink/>",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE l [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]><l>&c;</l>",
    ])
    func `a document type declaration is refused`(_ text: String) throws {
        #expect(try Self.refusal(Array(text.utf8)).code == .doctype)
    }

    @Test(arguments: [
        "", "ink", "<ink", "<ink>", "<ink></trace>", "<ink/><ink/>", "<ink>&nbsp;</ink>", "<ink a=\"1\" a=\"2\"/>",
        "<ink>\u{1}</ink>", "<?xml version=\"1.0\" encoding=\"ISO-2022-CN-EXT\"?><ink/>",
        "<?xml version=\"1.0\" encoding=\"UTF-7\"?><ink/>", "<x:ink/>",
    ])
    func `a file that is not XML is refused`(_ text: String) throws {
        #expect(try Self.refusal(Array(text.utf8)).code == .notXML)
    }

    @Test func `text in a wrong encoding is refused`() throws {
        for bytes: [UInt8] in [
            [0xff], [0xff, 0xfe, 0x3c], [0xfe, 0xff, 0xd8, 0x00], [0x3c, 0x69, 0xc3], [0, 0, 0, 0x3c],
        ] {
            #expect(try Self.refusal(bytes).code == .notXML)
        }
    }

    @Test func `another root is refused`() throws {
        for text in ["<svg/>", "<ink xmlns=\"urn:other\"/>", "<trace/>"] {
            #expect(try Self.refusal(Array(text.utf8)).code == .notInkML)
        }
    }

    @Test(arguments: [
        "<trace brushRef=\"http://example.org/b.inkml#x\">1 2</trace>",
        "<trace contextRef=\"other.inkml#c\">1 2</trace>",
        "<context inkSourceRef=\"/etc/passwd\"/>", "<traceView traceDataRef=\"file:///a#b\"/>",
    ])
    func `references to other files are refused`(_ content: String) throws {
        #expect(try Self.refusal(content).code == .externalReference)
    }

    @Test func `references to what is not there are refused`() throws {
        #expect(try Self.refusal("<trace brushRef=\"#x\">1 2</trace>").code == .unknownReference)
        #expect(try Self.refusal("<trace xml:id=\"x\" brushRef=\"#x\">1 2</trace>").code == .unknownReference)
        #expect(try Self.refusal("<trace continuation=\"end\">1 2</trace>").code == .badAttribute)
    }

    @Test(arguments: [
        "<context xml:id=\"a\" contextRef=\"#b\"/><context xml:id=\"b\" contextRef=\"#a\"/>",
        "<definitions><brush xml:id=\"a\" brushRef=\"#a\"/></definitions><trace brushRef=\"#a\">1 2</trace>",
        "<definitions><timestamp xml:id=\"a\" timestampRef=\"#a\"/></definitions><context timestampRef=\"#a\"/>",
        "<definitions><traceView xml:id=\"a\" traceDataRef=\"#a\"/></definitions><traceView traceDataRef=\"#a\"/>",
        "<definitions><traceGroup xml:id=\"a\"><traceView traceDataRef=\"#a\"/></traceGroup></definitions><traceView traceDataRef=\"#a\"/>",
    ])
    func `circles are refused`(_ content: String) throws {
        #expect(try Self.refusal(content).code == .circularReference)
    }

    @Test func `views that show views cannot multiply without end`() throws {
        var groups = "<traceGroup xml:id=\"g0\"><trace/></traceGroup>"
        for level in 1...14 {
            let views = String(repeating: "<traceView traceDataRef=\"#g\(level - 1)\"/>", count: 50)
            groups += "<traceGroup xml:id=\"g\(level)\">\(views)</traceGroup>"
        }
        let limits = InkMLLimits(bytes: 1 << 20, elements: 10_000)
        let error = try Self.refusal(
            "<definitions>\(groups)</definitions><traceView traceDataRef=\"#g14\"/>", limits: limits)
        #expect([.tooLarge, .circularReference].contains(error.code))
        // Few levels, many views.
        let two = try Self.refusal(
            "<definitions>\(groups)</definitions>" + String(repeating: "<traceView traceDataRef=\"#g4\"/>", count: 100),
            limits: limits)
        #expect(two.code == .tooLarge)
    }

    @Test(arguments: ["blanks", "annotation", "attribute"])
    func `a part that is read again and again counts each time`(_ part: String) throws {
        let limits = InkMLLimits(bytes: 1 << 20, elements: 10_000)
        let (blanks, name) = (String(repeating: " ", count: 500_000), String(repeating: "c", count: 40_000))
        let views = String(repeating: "<traceView traceDataRef=\"#t\"/>", count: 400)
        let content =
            switch part {
            case "blanks":
                // Shapes whose points are those of one trace.
                "<definitions><trace xml:id=\"t\">\(blanks)1 2</trace></definitions><traceGroup>"
                    + "<annotation type=\"element\">line</annotation><annotation type=\"points\">#t</annotation>"
                    + String(repeating: "<trace>3 4</trace>", count: 100) + "</traceGroup>"
            case "annotation":
                "<definitions><trace xml:id=\"t\"><annotation type=\"author\">\(blanks)</annotation>1 2</trace></definitions>"
                    + views
            default:
                "<definitions><context xml:id=\"\(name)\"/><trace xml:id=\"t\" contextRef=\"#\(name)\">1 2</trace></definitions>"
                    + views
            }
        #expect(try Self.refusal(content, limits: limits).code == .tooLarge)
    }

    @Test func `as many traces as a file may have are read`() throws {
        let limits = InkMLLimits(bytes: 1 << 17, elements: 2001)
        let traces = "<trace><annotation type=\"author\">a</annotation>1 2</trace>"
        let strokes = try InkDocument(
            inkML: ReadingTests.file(String(repeating: traces, count: 1000)), limits: limits
        ).strokes
        #expect(strokes.count == 1000)
    }

    @Test func `many attributes and namespaces do not take the time of their square`() throws {
        let many = 0..<400_000
        let contents = [
            "<trace " + many.map { "a\($0)='>'" }.joined(separator: " ") + "/>",
            "<trace " + many.map { "xmlns:a\($0)=\"u\"" }.joined(separator: " ") + "/>",
            "<!-- ' --><![CDATA[ \" ]]><?pi ' ?><trace " + many.map { "a\($0)='\"'" }.joined(separator: " ") + "/>",
        ]
        for content in contents { #expect(try Self.refusal(content).code == .tooLarge) }
        let nested = (0..<3).map { level in
            "<traceGroup " + (0..<30).map { "xmlns:a\(level)b\($0)=\"u\"" }.joined(separator: " ") + ">"
        }
        let closed = String(repeating: "</traceGroup>", count: 3)
        #expect(try Self.refusal(nested.joined() + closed).code == .tooLarge)
        let beside = nested.map { $0 + "</traceGroup>" }.joined()
        #expect(try InkDocument(inkML: ReadingTests.file(beside)).strokes.isEmpty)
    }

    @Test func `bounds are kept`() throws {
        let limits = InkMLLimits(
            bytes: 20_000, elements: 100, depth: 8, attributeBytes: 1000, strokePoints: 50, points: 80)
        let points = Array(repeating: "1 2", count: 50).joined(separator: ",")
        let contents = [
            String(repeating: " ", count: 20_000), String(repeating: "<trace/>", count: 100),
            String(repeating: "<traceGroup>", count: 8) + String(repeating: "</traceGroup>", count: 8),
            "<annotationXML>" + String(repeating: "<a xmlns=\"\">", count: 8) + String(repeating: "</a>", count: 8)
                + "</annotationXML>",
            "<trace xml:id=\"\(String(repeating: "x", count: 1000))\"/>", "<trace>\(points), 1 2</trace>",
            "<trace>\(points)</trace><trace>\(points)</trace>",
            "<traceFormat>" + String(repeating: "<channel name=\"X\"/>", count: 70) + "</traceFormat>",
        ]
        for content in contents {
            #expect(try Self.refusal(content, limits: limits).code == .tooLarge, "\(content.prefix(80))")
        }
        #expect(
            try InkDocument(inkML: ReadingTests.file("<trace>\(points)</trace>"), limits: limits).strokes.count == 1)
    }

    @Test(arguments: [
        ("<traceFormat><channel name=\"X\"/></traceFormat>", InkMLError.Code.missingChannel),
        ("<traceFormat><channel/></traceFormat>", .badAttribute),
        ("<traceFormat><channel name=\"X\" type=\"complex\"/></traceFormat>", .badAttribute),
        ("<traceFormat><channel name=\"X\" min=\"nan\"/></traceFormat>", .badAttribute),
        ("<brush xml:id=\"b\"><brushProperty name=\"color\" value=\"red\"/></brush>", .badAttribute),
        ("<brush xml:id=\"b\"><brushProperty name=\"width\" value=\"-1\"/></brush>", .badAttribute),
        ("<context><timestamp xml:id=\"t\" time=\"1e300\"/></context>", .badAttribute),
        (
            """
            <context><inkSource xml:id="s"><traceFormat><channel name="X"/><channel name="Y"/><channel name="OE"/></traceFormat>
            <channelProperties><channelProperty channel="OE" name="resolution" value="1e-307" units="1/deg"/>
            </channelProperties></inkSource></context><trace>1 2 1e10</trace>
            """, .badTrace
        ),
        ("<trace type=\"sideways\">1 2</trace>", .badAttribute),
        ("<trace timeOffset=\"soon\">1 2</trace>", .badAttribute),
        ("<context><canvasTransform><mapping type=\"affine\"/></canvasTransform></context>", .unsupported),
        (
            "<definitions><trace xml:id=\"a\">1 2</trace></definitions><traceView traceDataRef=\"#a\" from=\"2\"/>",
            .unsupported
        ),
        (
            "<traceFormat><channel name=\"X\"><mapping type=\"mathml\"/></channel><channel name=\"Y\"/></traceFormat>",
            .unsupported
        ),
    ])
    func `a value without meaning is refused`(_ content: String, _ code: InkMLError.Code) throws {
        #expect(try Self.refusal(content).code == code)
    }

    /// Files that are nearly right: every one is read or refused, and what is read is finite and can be written.
    @Test func `mutated files are read or refused`() throws {
        for seed in TestSeed.choose(8) {
            var random = SeededGenerator(seed: seed)
            let originals = [InkDocument.random(using: &random).inkML()] + Self.samples
            for _ in 0..<150 {
                var bytes = random.pick(originals)
                for _ in 0..<random.int(1...6) { Self.mutate(&bytes, using: &random) }
                guard let document = try? InkDocument(inkML: bytes) else { continue }
                let points = document.strokes.flatMap(\.points)
                #expect(points.allSatisfy { $0.x.isFinite && $0.y.isFinite }, "seed \(seed)")
                #expect(points.allSatisfy { ($0.altitude ?? 0).isFinite && ($0.azimuth ?? 0).isFinite }, "seed \(seed)")
                #expect(points.allSatisfy { ($0.milliseconds ?? 0).isFinite }, "seed \(seed)")
                #expect(document.strokes.allSatisfy { !$0.points.isEmpty && $0.width ?? 1 > 0 }, "seed \(seed)")
                _ = document.fitted(to: InkDocument.Size(width: 1024, height: 768)).inkML()
            }
        }
    }

    private static let samples = [
        """
        <definitions><brush xml:id="b"><brushProperty name="width" value="2" units="mm"/></brush>
        <context xml:id="c" brushRef="#b"><traceFormat><channel name="X"/><channel name="Y" orientation="-ve"/>
        <intermittentChannels><channel name="F" max="9"/><channel name="T" units="s"/></intermittentChannels></traceFormat></context>
        <traceGroup xml:id="g"><trace>1 2,'3"4</trace></traceGroup></definitions>
        <traceGroup contextRef="#c"><annotation type="page">2</annotation><trace timeOffset="5">#1F 2, '3-4, "5 6 7, * ? * 1</trace>
        <trace continuation="begin" xml:id="p">1 2</trace><trace continuation="end" priorRef="#p">3 4</trace></traceGroup>
        <traceView traceDataRef="#g"/>
        """
    ].map(ReadingTests.file)

    private static let fragments = [
        "<trace>", "</trace>", "<traceGroup>", "&lt;", "&#0;", "'", "\"", "*", "?", "1e308", "-", ",", "#", "<!--",
        "]]>", "<![CDATA[",
        "<!DOCTYPE x>", "xml:id=\"c\"", "contextRef=\"#c\"", "\u{0}", "99999999999999999999", "<context/>", "T",
    ]

    private static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = random.int(0..<bytes.count)
        switch random.int(0...4) {
        case 0: bytes[place] = UInt8(random.int(0...255))
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + random.int(1...40)))
        case 2: bytes.insert(contentsOf: random.pick(fragments).utf8, at: place)
        case 3:
            bytes.insert(
                contentsOf: bytes[place..<min(bytes.count, place + random.int(1...60))], at: random.int(0..<bytes.count)
            )
        default: bytes.removeLast(random.int(0...min(60, bytes.count)))
        }
    }
}
