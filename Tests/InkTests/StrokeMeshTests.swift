import Ink
import StrokeWire
import TestSupport
import Testing

/// The tests of Mesh check triangles by the specification: corners, caps, fringe, no open edges.
@Suite struct `The mesh of a stroke` {
    private func isOpaque(_ mesh: StrokeMesh, _ index: UInt32) -> Bool { mesh.vertices[Int(index)].alpha > 0 }

    /// Edges of one triangle only, as pairs of vertices in ascending order.
    private func openEdges(_ mesh: StrokeMesh) -> [[UInt32]] {
        var uses: [[UInt32]: Int] = [:]
        for triangle in stride(from: 0, to: mesh.indices.count, by: 3) {
            let corners = Array(mesh.indices[triangle..<triangle + 3])
            for (a, b) in zip(corners, corners[1...] + [corners[0]]) { uses[[min(a, b), max(a, b)], default: 0] += 1 }
        }
        #expect(uses.values.allSatisfy { $0 <= 2 })
        return uses.filter { $0.value == 1 }.map(\.key)
    }

    @Test func `has A, B, C, D of every sample and six triangles from each to the next, as in the specification`() {
        let mesh = StrokeMesh([CentreSample(x: 0, y: 0, radius: 2), CentreSample(x: 10, y: 0, radius: 4)], fringe: 1)
        func place(_ x: Float, _ y: Float, _ alpha: Float) -> UInt32? {
            mesh.vertices.firstIndex { $0 == StrokeMesh.Vertex(x: x, y: y, alpha: alpha) }.map { UInt32($0) }
        }
        let rib = [place(0, 3, 0), place(0, 2, 1), place(0, -2, 1), place(0, -3, 0)].compactMap(\.self)
        let next = [place(10, 5, 0), place(10, 4, 1), place(10, -4, 1), place(10, -5, 0)].compactMap(\.self)
        #expect(rib.count == 4 && next.count == 4)
        guard rib.count == 4, next.count == 4 else { return }
        let triangles = stride(from: 0, to: mesh.indices.count, by: 3).map { Array(mesh.indices[$0..<$0 + 3]) }
        for strip in 0..<3 {
            #expect(triangles.contains([rib[strip], next[strip], next[strip + 1]]))
            #expect(triangles.contains([rib[strip], rib[strip + 1], next[strip + 1]]))
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `is closed: its border is one ring of vertices without ink`(style: InkStyle) {
        // A gentle wave: no corner, so one ribbon.
        let wave = (0..<30).map { StrokePoint(x: 50 + 6 * Double($0), y: 60 + Double(($0 * (29 - $0)) % 4)) }
        let mesh = StrokeMesh(
            of: InkStroke(element: .freehand, style: style, width: 9, points: wave), width: 400, height: 200)
        let border = openEdges(mesh)
        #expect(border.allSatisfy { $0.allSatisfy { !isOpaque(mesh, $0) } })
        var next: [UInt32: [UInt32]] = [:]
        for edge in border {
            next[edge[0], default: []].append(edge[1])
            next[edge[1], default: []].append(edge[0])
        }
        #expect(next.values.allSatisfy { $0.count == 2 })
        var ring: Set<UInt32> = []
        var at = border.first?[0]
        while let here = at, ring.insert(here).inserted { at = next[here]?.first { !ring.contains($0) } }
        #expect(ring.count == next.count)
    }

    @Test func `has caps on the circles of the ends: ink on the line's edge, none on the fringe's`() {
        for radius in [0.5, 3, 40, 250] as [Float] {
            let ends = [CentreSample(x: 0, y: 0, radius: radius), CentreSample(x: 100, y: 0, radius: radius)]
            let mesh = StrokeMesh(ends, fringe: 1)
            for vertex in mesh.vertices {
                let x = vertex.x - min(max(vertex.x, 0), 100)
                let far = (x * x + vertex.y * vertex.y).squareRoot()
                #expect(abs(far - (vertex.alpha > 0 ? radius : radius + 1)) < radius * 1e-5)
            }
            #expect(mesh.vertices.map(\.x).max().map { abs($0 - 101 - radius) < 1e-3 } == true)
            #expect(mesh.vertices.map(\.x).min().map { abs($0 + 1 + radius) < 1e-3 } == true)
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `stays within the width of the line and its fringe, whatever the stroke`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<40 {
            let stroke = InkStroke(
                element: [.freehand, .line, .ellipse, .rectangle].randomElement(using: &random) ?? .line, style: style,
                width: Double.random(in: 0.01...60, using: &random),
                points: .random(count: Int.random(in: 1...30, using: &random), using: &random))
            var fitter = ParabolaFitter(scale: 1, canvasWidth: 1024, canvasHeight: 768)
            stroke.trace(into: &fitter)
            let line = fitter.samples.flattened()
            let mesh = StrokeMesh(of: stroke, width: 1024, height: 768)
            #expect(mesh.indices.count % 3 == 0 && !mesh.indices.isEmpty)
            #expect(mesh.indices.allSatisfy { Int($0) < mesh.vertices.count })
            for vertex in mesh.vertices {
                let near = line.contains {
                    let x = $0.x - vertex.x
                    let y = $0.y - vertex.y
                    return (x * x + y * y).squareRoot() <= $0.radius + 1.01
                }
                #expect(near && vertex.alpha >= 0 && vertex.alpha <= 1, "seed \(random.seed), round \(round)")
            }
        }
    }

    @Test func `rounds the corners of a rectangle instead of thinning them`() {
        let ends = [StrokePoint(x: 20, y: 20), StrokePoint(x: 80, y: 60)]
        let box = InkStroke(element: .rectangle, style: .smooth, width: 10, points: ends)
        let mesh = StrokeMesh(of: box, width: 100, height: 100)
        // A mean normal would put the inner edge 5/√2 from the corner; a round one reaches 5 out in both directions.
        for (x, y) in [(80, 15), (85, 20), (85, 60), (80, 65), (20, 65), (15, 60)] as [(Float, Float)] {
            #expect(mesh.vertices.contains { abs($0.x - x) < 0.01 && abs($0.y - y) < 0.01 && $0.alpha == 1 })
        }
    }

    @Test func `of a dot is a disc, of nothing is nothing`() {
        #expect(
            StrokeMesh([], fringe: 1)
                == StrokeMesh(of: InkStroke(element: .freehand, style: .pen, width: 3, points: []), width: 9, height: 9)
        )
        let sample = CentreSample(x: 5, y: 5, radius: 2)
        let dot = StrokeMesh([sample, sample], fringe: 1)
        #expect(!dot.indices.isEmpty)
        #expect(openEdges(dot).allSatisfy { $0.allSatisfy { !isOpaque(dot, $0) } })
        #expect(
            dot.vertices.allSatisfy {
                let far = (($0.x - 5) * ($0.x - 5) + ($0.y - 5) * ($0.y - 5)).squareRoot()
                return abs(far - ($0.alpha > 0 ? 2 : 3)) < 1e-5
            })
    }

    @Test(arguments: InkStyle.allCases)
    func `has finite vertices, however near to each other points are`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<200 {
            let points = [StrokePoint].nearEachOther(using: &random)
            let stroke = InkStroke(element: .freehand, style: style, width: random.pick([1e-300, 4]), points: points)
            for vertex in StrokeMesh(of: stroke, width: 100, height: 100).vertices {
                #expect((vertex.x + vertex.y + vertex.alpha).isFinite, "seed \(random.seed), round \(round): \(vertex)")
            }
        }
    }
}
