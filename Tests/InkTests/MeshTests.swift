import Ink
import Testing

@Suite("Mesh")
struct MeshTests {
    @Test("has the four corners of each sample and six triangles a step")
    func corners() {
        let samples = [CentreSample(x: 0, y: 0, radius: 2), CentreSample(x: 10, y: 0, radius: 4)]
        let mesh = Mesh(samples, fringe: 1)
        #expect(mesh.vertices.prefix(8).map(\.y) == [3, 2, -2, -3, 5, 4, -4, -5])
        #expect(mesh.vertices.prefix(8).map(\.alpha) == [0, 1, 1, 0, 0, 1, 1, 0])
        #expect(
            mesh.indices.prefix(18) == [
                0, 4, 5, 0, 1, 5,  // A A' B', A B B'
                1, 5, 6, 1, 2, 6,  // B B' C', B C C'
                2, 6, 7, 2, 3, 7,  // C C' D', C D D'
            ])
    }

    @Test("has round ends: all corners lie on the line's edge or the fringe's")
    func ends() {
        let samples = [CentreSample(x: 0, y: 0, radius: 2), CentreSample(x: 10, y: 0, radius: 2)]
        let mesh = Mesh(samples, fringe: 0.5)
        for vertex in mesh.vertices {
            let dx = vertex.x - min(max(vertex.x, 0), 10)
            let far = (dx * dx + vertex.y * vertex.y).squareRoot()
            let isCentre = far < 0.001
            #expect(isCentre || abs(far - (vertex.alpha > 0 ? 2 : 2.5)) < 0.001)
        }
        #expect(mesh.indices.allSatisfy { $0 < UInt32(mesh.vertices.count) })
        #expect(mesh.vertices.map(\.x).max().map { abs($0 - 12.5) < 0.001 } == true)
    }

    @Test("covers the area of the line", arguments: [0, 3] as [Float])
    func area(bend: Float) {
        let samples = (0...20).map { CentreSample(x: Float($0), y: bend * Float($0 % 2) * 0.1, radius: 3) }
        let mesh = Mesh(samples, fringe: 0.001)
        var area: Float = 0
        for triangle in stride(from: 0, to: mesh.indices.count, by: 3) {
            let corners = (0..<3).map { mesh.vertices[Int(mesh.indices[triangle + $0])] }
            let (a, b, c) = (corners[0], corners[1], corners[2])
            area += abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2
        }
        let wanted: Float = 20 * 6 + .pi * 9
        #expect(abs(area - wanted) < wanted * 0.05)
    }

    @Test("of one sample is a disc and of none is nothing")
    func few() {
        #expect(Mesh([], fringe: 1).vertices.isEmpty)
        let dot = Mesh([CentreSample(x: 5, y: 5, radius: 2), CentreSample(x: 5, y: 5, radius: 2)], fringe: 1)
        #expect(dot.indices.count == 2 * 16 * 9)
    }
}
