import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

/// Boards whose pixels are known: the table holds the fingerprint of each, the same on every machine and in every build.
///
/// A change that is meant to change pixels changes the table, and says so. Nothing here calls the C library: the points
/// come from additions, multiplications, divisions and square roots alone.
@Suite struct `Golden pixels` {
    private static let fingerprints: [String: UInt64] = [
        "cut off, bspline": 0x4600_D9E6_D178_D2B7,
        "cut off, calligraphy": 0xCAA3_0644_5E23_7E1F,
        "cut off, pen": 0x7C9F_C047_395D_0938,
        "cut off, pencil": 0x8FC4_7F72_B22C_744A,
        "cut off, quadratic": 0x4905_6B34_843C_D133,
        "cut off, smooth": 0x60E4_0715_7DBC_9EE7,
        "cut off, stamp": 0xE60F_846B_BFA2_42F7,
        "erasers": 0xABA4_7F46_3200_F853,
        "few points": 0xD3A4_06AF_0D07_0A93,
        "history, 10 strokes": 0xA4F4_4F4B_3E8D_B5A8,
        "history, 2 redone": 0xA2E2_F848_80ED_127E,
        "history, 20 strokes": 0xDEE4_1722_BC81_60A9,
        "history, 30 strokes": 0xCFDF_82C2_7684_6BD5,
        "history, 40 strokes": 0x41DE_BD39_5519_2AB6,
        "history, 6 undone": 0xDAAA_1CF0_BEB5_400A,
        "history, one more": 0x08DF_1099_504C_4638,
        "history, some removed": 0x4DB9_33DD_B105_91BC,
        "large canvas, bspline": 0xEE6D_F0DE_96F6_FA7A,
        "large canvas, smooth": 0xC37D_02BC_F5BF_5648,
        "long stroke, pen": 0x2378_2BDD_6E35_6D4B,
        "long stroke, smooth": 0x8AAA_6DC0_6FE3_22DD,
        "long stroke, stamp": 0xCF11_BD56_E146_7790,
        "scale 0.23, bspline": 0x0B2F_6CFC_B333_2A41,
        "scale 0.23, calligraphy": 0xA771_9379_0F3A_2148,
        "scale 0.23, pen": 0xEFB4_0B53_07B0_C1F8,
        "scale 0.23, pencil": 0x68E4_C17D_7741_04C9,
        "scale 0.23, quadratic": 0xE5EF_C6B5_C409_5B7F,
        "scale 0.23, smooth": 0x4398_1F4B_C8CA_B9F6,
        "scale 0.23, stamp": 0x9480_C694_2712_23F1,
        "scale 4.6, bspline": 0xA75B_D2F0_442C_C087,
        "scale 4.6, calligraphy": 0xCA91_7FBF_9E65_384D,
        "scale 4.6, pen": 0xAAA5_30DC_81A7_B6B1,
        "scale 4.6, pencil": 0x32E3_DFC2_F439_D2C4,
        "scale 4.6, quadratic": 0x6924_931D_2627_D584,
        "scale 4.6, smooth": 0x9F21_3207_E5BA_C9BE,
        "scale 4.6, stamp": 0x9D38_55DB_C39E_E9B7,
        "shading, pencil": 0x6D79_DE21_FCC6_C9BF,
        "shapes": 0x3026_B54B_E877_349E,
        "style bspline": 0xF54F_9852_5242_DC12,
        "style calligraphy": 0xDAA5_4734_A580_54DA,
        "style pen": 0x392F_66F9_9641_9F51,
        "style pencil": 0x0B74_0D88_0791_3468,
        "style quadratic": 0x1429_67EE_D931_02E3,
        "style smooth": 0x84D3_3126_16C5_F42B,
        "style stamp": 0x6A08_A9A7_63C7_2703,
        "tip highlighter, scale 0.31": 0x92A6_5670_821C_3BA3,
        "tip highlighter, scale 1.0": 0x136E_BDCB_6E97_61CC,
        "tip highlighter, scale 3.3": 0x10EB_2B38_9F67_93E3,
        "tip marker, scale 0.31": 0x4D87_54DE_ECC8_9837,
        "tip marker, scale 1.0": 0x611D_411E_108E_F4A9,
        "tip marker, scale 3.3": 0xDB70_E3DC_F1CD_45A3,
        "tip round, scale 0.31": 0x9703_3364_4E1A_141C,
        "tip round, scale 1.0": 0xE377_08DE_1C8B_4FB4,
        "tip round, scale 3.3": 0xEEB1_FA3C_BEC9_3FAD,
        "tip square, scale 0.31": 0x67A1_47B5_4B10_0D8D,
        "tip square, scale 1.0": 0x1778_EE4A_8727_D7FD,
        "tip square, scale 3.3": 0xCF7A_D1B4_41CA_A5BE,
        "wide and far, bspline": 0x76BC_970E_5EE1_E3C9,
        "wide and far, calligraphy": 0x0FA7_1E3B_5DF0_B2BA,
        "wide and far, pen": 0x9545_39D9_DFDC_7588,
        "wide and far, pencil": 0x0086_B4D7_ABD9_05C6,
        "wide and far, quadratic": 0x55D6_491E_73D3_3A1E,
        "wide and far, smooth": 0x4026_9D72_1299_6664,
        "wide and far, stamp": 0x1B63_2F48_8202_C436,
    ]

    @Test(arguments: InkStyle.allCases) func `of boards in every style`(style: InkStyle) {
        var pen = GoldenPen(seed: 1)
        let strokes = (0..<24).map { line in
            pen.ink(
                .freehand, style, points: pen.handwriting(line: line, points: 12 + line * 3, hasForce: line % 3 == 0))
        }
        expect("style \(style)", draw(strokes, width: 700, height: 500, scale: 1.37))
    }

    @Test func `of strokes of a few points in every style`() {
        var pen = GoldenPen(seed: 2)
        var strokes: [PaintedStroke] = []
        for (row, style) in InkStyle.allCases.enumerated() {
            for count in 1...8 {
                let points = pen.handwriting(
                    from: SIMD2(Double(count) * 40, Double(row) * 40 + 20), step: 9, points: count, hasForce: false)
                strokes.append(pen.ink(.freehand, style, points: points))
            }
        }
        expect("few points", draw(strokes, width: 400, height: max(300, 40 * InkStyle.allCases.count), scale: 1))
    }

    @Test func `of lines, rectangles and ellipses`() {
        var pen = GoldenPen(seed: 3)
        let strokes = (0..<36).map { index in
            let begin = pen.place(-30...430, -30...330)
            let end = index < 3 ? begin : pen.place(-30...430, -30...330)
            return pen.ink([.line, .rectangle, .ellipse][index % 3], .smooth, points: [begin, end])
        }
        expect("shapes", draw(strokes, width: 400, height: 300, scale: 0.85))
    }

    @Test func `of erasers over ink in every style`() {
        var pen = GoldenPen(seed: 4)
        var strokes: [PaintedStroke] = []
        for (index, style) in (InkStyle.allCases + InkStyle.allCases).enumerated() {
            for line in 0..<4 {
                let points = pen.handwriting(line: line * 5 + index % 5, points: 40, hasForce: line == 1)
                strokes.append(pen.ink(.freehand, style, points: points))
            }
            let points = pen.handwriting(
                from: SIMD2(40, Double(30 * index + 20)), step: 14, points: 30, hasForce: index % 2 == 0)
            strokes.append(pen.ink(.eraser, style, width: 6 + Double(index) * 2, points: points))
        }
        expect("erasers", draw(strokes, width: 600, height: 450, scale: 1.2))
    }

    @Test func `of pens as wide as the canvas, and of strokes that reach far beyond it`() {
        var pen = GoldenPen(seed: 5)
        for style in InkStyle.allCases {
            let strokes = (0..<10).map { index in
                let reach = [100, 400, 5000, 1_000_000, 1_000_000_000][index % 5] as Double
                let points = (0..<12).map { number in
                    var point = pen.place(-reach...reach, -reach...reach)
                    point.milliseconds = Double(number * 7)
                    point.force = index % 2 == 0 ? nil : Double(number) / 11
                    return point
                }
                return pen.ink(.freehand, style, width: [3, 25, 90, 240][index % 4], points: points)
            }
            expect("wide and far, \(style)", draw(strokes, width: 300, height: 200, scale: 1))
        }
    }

    @Test func `of strokes of thousands of points`() {
        var pen = GoldenPen(seed: 6)
        for style in [InkStyle.smooth, .pen, .stamp] {
            let points = pen.handwriting(from: SIMD2(20, 20), step: 5, points: 2500, hasForce: style == .pen)
            let stroke = pen.ink(.freehand, style, width: 3, points: points)
            expect("long stroke, \(style)", draw([stroke], width: 500, height: 400, scale: 1))
        }
    }

    @Test func `of pencils that are laid down and turned`() {
        var pen = GoldenPen(seed: 11)
        let strokes = (0..<12).map { line in
            var points = pen.handwriting(line: line, points: 40, hasForce: line % 3 != 2)
            for index in points.indices {
                let (down, turned) = (1 - Double(index) / 40, Double(index * (line - 6)) / 30)
                points[index] = StrokePoint(
                    x: points[index].x, y: points[index].y, force: points[index].force, altitude: down,
                    azimuth: line % 4 == 1 ? nil : turned, milliseconds: points[index].milliseconds)
            }
            return pen.ink(.freehand, .pencil, width: 3, points: points)
        }
        expect("shading, pencil", draw(strokes, width: 512, height: 384, scale: 1))
    }

    @Test(arguments: InkTip.allCases) func `of stamps of every tip, turned and at several scales`(tip: InkTip) {
        for scale in [0.31, 1, 3.3] {
            var pen = GoldenPen(seed: 12)
            let strokes = (0..<12).map { line in
                var points = pen.handwriting(line: line, points: 1 + line * 4, hasForce: line % 3 != 2)
                for index in points.indices {
                    points[index].azimuth = line % 4 == 1 ? nil : Double(index * (line - 6)) / 30
                }
                return pen.ink(line == 10 ? .eraser : .freehand, .stamp, points: points, tip: tip)
            }
            expect(
                "tip \(tip), scale \(scale)",
                draw(strokes, width: Int(512 * scale), height: Int(384 * scale), scale: scale))
        }
    }

    @Test(arguments: InkStyle.allCases) func `of every style at small and large scales`(style: InkStyle) {
        for scale in [0.23, 4.6] {
            var pen = GoldenPen(seed: 9)
            let strokes = (0..<12).map { line in
                pen.ink(
                    .freehand, style, points: pen.handwriting(line: line, points: 20 + line, hasForce: line % 4 == 0))
            }
            let size = 512 * scale
            expect("scale \(scale), \(style)", draw(strokes, width: Int(size), height: Int(size * 0.75), scale: scale))
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `of ink and erasers that the borders of the canvas cut off, in every style`(style: InkStyle) {
        var pen = GoldenPen(seed: 10)
        // One stroke along each border, and an eraser across it; then dots and erasers beyond the corners.
        var strokes: [PaintedStroke] = []
        for border in 0..<4 {
            let along = (0..<24).map { step in
                let place = Double(step) * 11 - 20
                let off = Double(step * 7 % 19) - 9
                return [(place, off), (211 + off, place), (place, 149 + off), (off, place)][border]
            }
            for (element, width) in [(Element.freehand, 14.0), (.eraser, 5)] {
                let points = along.enumerated().map { index, place in
                    StrokePoint(
                        x: place.0, y: place.1, force: border % 2 == 0 ? Double(index % 8) / 8 : nil,
                        milliseconds: Double(index * 9))
                }
                strokes.append(
                    pen.ink(element, style, width: width, points: element == .eraser ? points.reversed() : points))
            }
        }
        for (x, y) in [(-3.0, -3.0), (213, -3), (-3, 151), (213, 151)] {
            strokes.append(pen.ink(.freehand, style, width: 30, points: [StrokePoint(x: x, y: y)]))
            strokes.append(pen.ink(.eraser, style, width: 17, points: [StrokePoint(x: x, y: y)]))
        }
        expect("cut off, \(style)", draw(strokes, width: 211, height: 149, scale: 1))
    }

    @Test(arguments: [InkStyle.smooth, .bspline]) func `of a large canvas`(style: InkStyle) {
        var pen = GoldenPen(seed: 7)
        let strokes = (0..<60).map { line in
            pen.ink(.freehand, style, points: pen.handwriting(line: line, points: 60, hasForce: false))
        }
        expect("large canvas, \(style)", draw(strokes, width: 2048, height: 1536, scale: 3.1))
    }

    @Test func `of a board after undo, redo and strokes that were removed below others`() {
        var pen = GoldenPen(seed: 8)
        var board = PaintedBoard()
        func append(_ id: UInt64) {
            let style = InkStyle.allCases[Int(id) % InkStyle.allCases.count]
            let points = pen.handwriting(line: Int(id), points: 25, hasForce: id % 4 == 0)
            board.add(id, pen.ink(id % 7 == 0 ? .eraser : .freehand, style, points: points))
        }
        var painter = BoardPainter(width: 512, height: 384, scale: 1, versionBytes: 4 << 20)
        func expectPicture(_ name: String) {
            let canvas = painter.canvas(of: board)
            expect(name, canvas)
        }
        for id in 1...40 as ClosedRange<UInt64> {
            append(id)
            if id % 10 == 0 { expectPicture("history, \(id) strokes") }
        }
        board.visible.removeLast(6)
        expectPicture("history, 6 undone")
        board.visible += [35, 36]
        expectPicture("history, 2 redone")
        board.visible.removeAll { $0 % 5 == 0 }
        expectPicture("history, some removed")
        append(41)
        expectPicture("history, one more")
    }

    private func draw(_ strokes: [PaintedStroke], width: Int, height: Int, scale: Double) -> Canvas {
        Canvas(width: width, height: height, scale: scale, drawing: strokes.map { .stroke($0) })
    }

    private func expect(_ board: String, _ canvas: Canvas) {
        let found = canvas.fingerprint
        #expect(
            found == Self.fingerprints[board],
            "the pixels have changed: \"\(board)\": 0x\(String(found, radix: 16)),")
    }
}

/// Draws seeded strokes that look like handwriting, on a board of 512 × 384 units.
private struct GoldenPen {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A number in a range, in 53 bits, in the same way with every standard library.
    private mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * (Double(random.next() >> 11) * 0x1p-53)
    }

    mutating func place(_ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> StrokePoint {
        let left = number(x)
        return StrokePoint(x: left, y: number(y))
    }

    /// A stroke of a random width and colour.
    mutating func ink(
        _ element: Element, _ style: InkStyle, width: Double? = nil, points: [StrokePoint], tip: InkTip = .round
    ) -> PaintedStroke {
        let chosen = width ?? number(0.6...9)
        return PaintedStroke(
            stroke: InkStroke(element: element, style: style, width: chosen, points: points, tip: tip),
            colour: RGB(UInt32(truncatingIfNeeded: random.next() >> 40)))
    }

    /// A stroke on one of 20 lines of the board.
    mutating func handwriting(line: Int, points: Int, hasForce: Bool) -> [StrokePoint] {
        let begin = SIMD2(number(-10...300), Double(line % 20) * 19 + number(0...12))
        return handwriting(from: begin, step: number(1...6), points: points, hasForce: hasForce)
    }

    /// Loops and turns that drift to the right and begin again at the left, a point every 8 ms or so.
    mutating func handwriting(
        from begin: SIMD2<Double>, step: Double, points: Int, hasForce: Bool
    ) -> [StrokePoint] {
        var place = begin
        var forward = SIMD2(1.0, 0.0)
        var turn = 0.2
        var force = 0.5
        var milliseconds = 0.0
        return (0..<points).map { index in
            let point = StrokePoint(x: place.x, y: place.y, force: hasForce ? force : nil, milliseconds: milliseconds)
            if index % 9 == 0 { turn = number(-0.45...0.45) }
            if index % 31 == 30 { forward = -forward }
            // A turn by twice the angle whose tangent this is, without sines.
            let tangent = turn + number(-0.1...0.1)
            let square = 1 + tangent * tangent
            let (cosine, sine) = ((2 - square) / square, 2 * tangent / square)
            forward = SIMD2(forward.x * cosine - forward.y * sine, forward.y * cosine + forward.x * sine)
            let length = (forward.x * forward.x + forward.y * forward.y).squareRoot()
            forward /= length
            place += (forward + SIMD2(0.35, 0)) * (step * number(0.4...1.3))
            if place.x > 530 { place.x -= 540 }
            place.y += (begin.y - place.y) * 0.03
            force = min(max(force + number(-0.15...0.15), 0), 1)
            milliseconds += number(4...12)
            return point
        }
    }
}
