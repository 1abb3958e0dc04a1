import Ink
import StrokeWire
import TestSupport
import Testing

@Suite struct `The pencil style` {
    /// A straight line to the right with the same pen at every point.
    private func nib(
        _ force: Double? = 0.3, altitude: Double? = nil, azimuth: Double? = nil, way: Vector = Vector(8, 0)
    ) -> Nib? {
        let stroke = (0..<6).map {
            StrokePoint(
                x: 100 + way.x * Double($0), y: 100 + way.y * Double($0), force: force, altitude: altitude,
                azimuth: azimuth, milliseconds: Double($0) * 8)
        }
        return trace(.pencil, stroke).last?.nib
    }

    @Test func `writes the line width with a third of the greatest force, and wider and darker with more`() throws {
        let third = try #require(nib(1.0 / 3))
        #expect(abs(third.width - 16) < 1e-9 && abs(third.opacity - 0.9) < 1e-9)
        let nibs = try [0, 0.1, 0.2, 0.3, 0.4, 1].map { try #require(nib($0)) }
        for (light, hard) in zip(nibs, nibs.dropFirst()) {
            #expect(light.width <= hard.width && light.opacity <= hard.opacity)
        }
        #expect(abs(nibs[0].width - 0.4 * 16) < 1e-9 && abs(nibs[5].width - 1.5 * 16) < 1e-9)
    }

    @Test
    func `goes by the speed where a pen tells no force, and is near the line width for an ordinary hand`() throws {
        let slow = try #require(nib(nil, way: Vector(1, 0)))
        let fast = try #require(nib(nil, way: Vector(16, 0)))
        #expect(slow.width > fast.width && slow.opacity > fast.opacity)
        #expect(slow.width > 0.9 * 16 && slow.opacity > 0.8)
    }

    @Test func `shades below 30°: wider and lighter, without a step`() throws {
        let upright = try #require(nib(altitude: 1.2, azimuth: .pi / 2))
        let bound = try #require(nib(altitude: PencilLead.shadingAltitude, azimuth: .pi / 2))
        #expect(upright == bound)
        var last = bound
        for step in 1...200 {
            let altitude = PencilLead.shadingAltitude * (1 - Double(step) / 200)
            let now = try #require(nib(altitude: altitude, azimuth: .pi / 2))
            #expect(now.width >= last.width && now.opacity <= last.opacity)
            #expect(now.width - last.width < 1.2 && last.opacity - now.opacity < 0.01)
            last = now
        }
        #expect(last.width > 6 * bound.width && last.opacity < 0.4 * bound.opacity)
    }

    @Test func `turns the side of its lead by the azimuth: wide across it, narrow along it`() throws {
        let across = try #require(nib(altitude: 0.2, azimuth: .pi / 2))
        let along = try #require(nib(altitude: 0.2, azimuth: .pi))
        let upright = try #require(nib(altitude: 1.2))
        #expect(abs(along.width - upright.width) < 1e-6)
        #expect(across.width > along.width + 5.9 * 16)
        // The same on a line downwards, a quarter further.
        let down = try #require(nib(altitude: 0.2, azimuth: .pi, way: Vector(0, 8)))
        #expect(abs(down.width - across.width) < 1e-6)
        let unknown = try #require(nib(altitude: 0.2))
        #expect(unknown.width > along.width && unknown.width < across.width)
    }

    @Test func `takes sines and cosines that are the same on every machine, also of angles of many turns`() {
        let turn = 2 * Double.pi
        for step in -64...64 {
            let angle = Double(step) * turn / 48
            let (one, further) = (Vector(angle: angle), Vector(angle: angle + turn / 4))
            #expect(abs(one.length - 1) < 1e-10)
            #expect((further - Vector(-one.y, one.x)).length < 1e-10)
            #expect((Vector(angle: angle + 5 * turn) - one).length < 1e-9)
        }
        #expect((Vector(angle: turn / 12) - Vector(0.75.squareRoot(), 0.5)).length < 1e-10)
        for angle in [1e9, -1e300, 1e308] { #expect(abs(Vector(angle: angle).length - 1) < 1e-10) }
    }
}
