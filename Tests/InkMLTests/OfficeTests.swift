import InkML
import StrokeWire
import Testing

/// InkML as Microsoft Office, OneNote, Journal and Wacom write it.
@Suite struct OfficeTests {
    /// A file in the manner of Office.
    static func file(
        resolutions: [String: String] = [:], units: String = "cm", id: String = "inkSrc0", brush: String = "",
        offset: String = "", trace: String = "1000 1000 16000, 2000 3000 32767"
    ) -> [UInt8] {
        let properties = ["X", "Y", "F"].map { channel in
            let value = resolutions[channel] ?? (channel == "F" ? "0" : "1000")
            return """
                <inkml:channelProperty channel="\(channel)" name="resolution" value="\(value)" \
                units="1/\(channel == "F" ? "dev" : units)"/>
                """
        }
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <inkml:ink xmlns:inkml="http://www.w3.org/2003/InkML"><inkml:definitions>
            <inkml:context xml:id="ctx0"><inkml:inkSource xml:id="\(id)"><inkml:traceFormat>
            <inkml:channel name="X" type="integer" max="32767" units="\(units)"/>
            <inkml:channel name="Y" type="integer" max="32767" units="\(units)"/>
            <inkml:channel name="F" type="integer" max="32767" units="dev"/></inkml:traceFormat>
            <inkml:channelProperties>\(properties.joined())</inkml:channelProperties></inkml:inkSource></inkml:context>
            <inkml:brush xml:id="br0">\(brush)</inkml:brush></inkml:definitions>
            <inkml:trace contextRef="#ctx0" brushRef="#br0"\(offset)>\(trace)</inkml:trace></inkml:ink>
            """.utf8)
    }

    private static func property(_ name: String, _ value: String, _ units: String? = nil) -> String {
        let units = units.map { " units=\"\($0)\"" } ?? ""
        return "<inkml:brushProperty name=\"\(name)\" value=\"\(value)\"\(units)/>"
    }

    @Test func `a resolution of 0 is passed over with one note, and refused where reading is strict`() throws {
        let file = Self.file()
        let document = try InkDocument(inkML: file)
        let stroke = try #require(document.strokes.first)
        #expect(stroke.points.map(\.force) == [16000 / 32767, 1])
        #expect(stroke.points.map { ($0.x * 25.4 / 96).rounded() } == [10, 20])
        #expect(document.notes.map(\.code) == [.unknownResolution])
        let error = try #require(throws: InkMLError.self) { try InkDocument(inkML: file, isStrict: true) }
        #expect(error.code == .passedOver && error.line == document.notes.first?.line)
        #expect(try InkDocument(inkML: Self.file(resolutions: ["F": "1"]), isStrict: true).notes.isEmpty)
        // Without a resolution, X counts in its units.
        let wide = try InkDocument(inkML: Self.file(resolutions: ["X": "0"], trace: "1 1000 1"))
        #expect(try #require(wide.strokes.first?.points.first).x == 96 / 2.54)
        #expect(throws: InkMLError.self) { try InkDocument(inkML: Self.file(resolutions: ["F": "-1"])) }
    }

    /// The figures of the ink in [MS-ODRAWXML], 3.2.
    @Test func `Office counts hundredths of a millimetre, whatever the digitizer's resolutions`() throws {
        let resolutions = ["X": "367.8161", "Y": "440.36697"]
        func size(_ file: [UInt8]) throws -> (width: Double, height: Double) {
            let points = try #require(try InkDocument(inkML: file).strokes.first).points
            return (points[1].x - points[0].x, points[1].y - points[0].y)
        }
        let trace = "0 212 0, 8921 3017 0"
        let office = try size(Self.file(resolutions: resolutions, trace: trace))
        #expect(abs(office.width * 2.54 / 96 - 8.921) < 1e-9 && abs(office.height * 2.54 / 96 - 2.805) < 1e-9)
        // In files of others, and in other units, they count.
        let other = try size(Self.file(resolutions: resolutions, id: "tablet", trace: trace))
        #expect(abs(other.width / other.height - 3.8077) < 1e-4)
        let inches = try size(Self.file(resolutions: resolutions, units: "in", trace: trace))
        #expect(abs(inches.width / inches.height - 3.8077) < 1e-4)
    }

    @Test func `himetric is a hundredth of a millimetre, in brushes and in coordinates`() throws {
        let brush = Self.property("width", "100", "himetric") + Self.property("height", "100", "himetric")
        let file = Self.file(resolutions: ["X": "1", "Y": "1", "F": "1"], units: "himetric", brush: brush)
        let document = try InkDocument(inkML: file, isStrict: true)
        let stroke = try #require(document.strokes.first)
        #expect(abs((stroke.width ?? 0) - 96 / 25.4) < 1e-9)
        #expect(abs(stroke.points[0].x - 960 / 25.4) < 1e-9)
    }

    @Test func `unknown units of a brush count as those of the device, with a note`() throws {
        let document = try InkDocument(inkML: Self.file(brush: Self.property("width", "50", "cubits")))
        #expect(abs((document.strokes.first?.width ?? 0) - 50 * 0.096 / 2.54) < 1e-9)
        #expect(document.notes.map(\.code).contains(.unknownUnits))
    }

    @Test(arguments: [("280.5", 281), ("280.4", 280), ("-0.6", -1), ("1e3", 1000), ("9007199254740993", 1 << 53 + 1)])
    func `a decimal time offset is rounded to milliseconds`(_ text: String, _ time: Int64) throws {
        let document = try InkDocument(inkML: Self.file(offset: " timeOffset=\"\(text)\""))
        #expect(document.strokes.first?.time == time)
    }

    @Test(arguments: ["soon", "1e300", "nan"])
    func `a time offset that is no time is refused`(_ text: String) throws {
        let file = Self.file(offset: " timeOffset=\"\(text)\"")
        #expect(try #require(throws: InkMLError.self) { try InkDocument(inkML: file) }.code == .badAttribute)
    }

    @Test func `a highlighter keeps its colour, transparency and greater width, and so does its copy`() throws {
        let size = Self.property("width", "0.1", "cm") + Self.property("height", "0.6", "cm")
        let look = Self.property("color", "#FFFF00") + Self.property("tip", "rectangle")
        let kinds = [
            (Self.property("transparency", "127") + Self.property("rasterOp", "maskPen"), 127 as UInt8, 0.6),
            (Self.property("rasterOp", "maskPen"), 127, 0.6), (Self.property("transparency", "0.4"), 1, 0.6),
            (Self.property("transparency", "0") + Self.property("rasterOp", "copyPen"), 0, 0.1),
        ]
        for (kind, transparency, width) in kinds {
            var document = try InkDocument(inkML: Self.file(resolutions: ["F": "1"], brush: size + look + kind))
            let stroke = try #require(document.strokes.first)
            #expect(stroke.colour == 0xffff00 && stroke.transparency == transparency)
            #expect(abs((stroke.width ?? 0) - width * 96 / 2.54) < 1e-9)
            #expect(document.notes.map(\.code) == [.brushShape])
            document = InkDocument(pages: document.pages)
            #expect(try InkDocument(inkML: document.inkML()).strokes == document.strokes)
        }
    }
}
