import Ink
import StrokeWire
import TestSupport
import Testing

/// The protocol's test vectors of ink styles: the segments that a client has to draw for a stroke's points.
@Suite struct `The protocol's test vectors of styles` {
    @Test func `trace the stated segments, widths and opacities`() throws {
        let cases = try ProtocolVectors.cases("styles.json", of: StyleVector.self, atLeast: InkStyle.allCases.count)
        #expect(Set(cases.map(\.style)) == Set(InkStyle.allCases.map(\.rawValue)))
        for vector in cases {
            var recorder = Recorder()
            InkStroke(
                element: try #require(Element(rawValue: vector.e)),
                style: try #require(InkStyle(rawValue: vector.style)),
                width: vector.l, points: vector.d.map(\.point)
            ).trace(into: &recorder)
            #expect(recorder.segments.count == vector.segments.count, "\(vector.style), \(vector.name)")
            for (place, (segment, expected)) in zip(recorder.segments, vector.segments).enumerated() {
                #expect(expected.describes(segment), "\(vector.style), \(vector.name), segment \(place): \(segment)")
            }
        }
    }
}

private struct StyleVector: Decodable {
    struct Point: Decodable {
        let x: Double
        let y: Double
        let f: Double?
        let m: Double?

        var point: StrokePoint { StrokePoint(x: x, y: y, force: f, milliseconds: m) }
    }

    struct Segment: Decodable {
        let segment: String
        let control: [Double]?
        let control1: [Double]?
        let control2: [Double]?
        let to: [Double]
        let width: Double
        let opacity: Double

        /// Equal to the six decimals that are given.
        func describes(_ traced: Recorder.Segment) -> Bool {
            let nib = traced.nib
            guard Self.isNear(nib.width, width), Self.isNear(nib.opacity, opacity) else { return false }
            return switch (traced, segment) {
            case (.begin(let end, _), "begin"), (.line(let end, _), "line"): Self.isNear(end, to)
            case (.quadratic(let control, let end, _), "quadratic"):
                Self.isNear(control, self.control) && Self.isNear(end, to)
            case (.cubic(let control1, let control2, let end, _), "cubic"):
                Self.isNear(control1, self.control1) && Self.isNear(control2, self.control2) && Self.isNear(end, to)
            default: false
            }
        }

        private static func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-6 }

        private static func isNear(_ a: Vector, _ b: [Double]?) -> Bool {
            guard let b, b.count == 2 else { return false }
            return isNear(a.x, b[0]) && isNear(a.y, b[1])
        }
    }

    let name: String
    let style: String
    let e: UInt8
    let l: Double
    let d: [Point]
    let segments: [Segment]
}
