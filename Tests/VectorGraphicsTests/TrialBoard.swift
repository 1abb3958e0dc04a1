import Ink
import Raster
import StrokeWire
import VectorGraphics

/// Boards of difficult strokes, 320 × 240 units.
enum TrialBoard: String, CaseIterable, Sendable {
    case shapes, dots, turns, erasers

    func strokes(_ style: InkStyle) -> [PaintedStroke] {
        switch self {
        case .shapes: Self.shapes(style)
        case .dots: Self.dots(style)
        case .turns: Self.turns(style)
        case .erasers: Self.erasers(style)
        }
    }

    private static func shapes(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.rectangle, style, 5, [(140, 100), (20, 20)]),
            stroke(.ellipse, style, 3, [(300, 20), (180, 100)], 0xD9_2020),
            stroke(.line, style, 12, [(20, 220), (150, 130)], 0x1F_4FD8),
            stroke(.line, style, 1, [(10, 130), (150, 131)]),
            stroke(.rectangle, style, 7, [(200, 150), (200, 220)], 0x1A_9850),
            stroke(.ellipse, style, 7, [(230, 180), (310, 180)], 0xF0_8C00),
            stroke(.line, style, 20, [(250, 210), (250, 210)], 0x7B_2CBF),
        ]
    }

    /// One, two and three points; all at one place; a pen that rests.
    private static func dots(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.freehand, style, 12, [(30, 30)]),
            stroke(.freehand, style, 12, [(80, 30), (80, 30)]),
            stroke(.freehand, style, 12, [(130, 30), (130, 30), (130, 30), (130, 30), (130, 30), (130, 30)]),
            stroke(.freehand, style, 8, [(30, 80), (90, 80)], 0xD9_2020),
            stroke(.freehand, style, 8, [(130, 80), (160, 110), (190, 80)], 0x1F_4FD8),
            stroke(.freehand, style, 8, [(30, 140), (60, 190), (90, 140), (120, 190)], 0x1A_9850),
            stroke(.freehand, style, 8, [(200, 140), (200, 140), (240, 190), (240, 190), (240, 190), (290, 140)]),
        ]
    }

    /// Hairpins, sharp corners, tight loops and a stroke that crosses itself again and again.
    private static func turns(_ style: InkStyle) -> [PaintedStroke] {
        let scribble: [(Double, Double)] = (0..<24).map { step in
            let x = 40.0 + 4.0 * Double(step) + Double(step % 4) * 7.0
            return (x, 190.0 + Double(step / 2 % 2) * 9.0)
        }
        let star: [(Double, Double)] = (0..<14).map { step in
            let places = [(250.0, 30.0), (280.0, 110.0), (210.0, 60.0), (295.0, 60.0), (225.0, 110.0)]
            return places[step % 5]
        }
        return [
            stroke(.freehand, style, 9, [(20, 20), (80, 22), (140, 24), (80, 26), (20, 28), (80, 60), (140, 90)]),
            stroke(.freehand, style, 14, [(20, 120), (140, 121), (20, 123), (140, 125), (20, 127)], 0xD9_2020),
            stroke(.freehand, style, 6, star, 0x1F_4FD8),
            stroke(.freehand, style, 16, scribble, 0x1A_9850),
            stroke(.freehand, style, 10, [(200, 150), (300, 150), (200, 150), (300, 220), (200, 220), (300, 150)]),
        ]
    }

    /// Several erasers, each over some strokes and below others.
    private static func erasers(_ style: InkStyle) -> [PaintedStroke] {
        [
            stroke(.rectangle, style, 6, [(30, 30), (290, 210)]),
            stroke(.line, style, 30, [(30, 60), (290, 60)], 0xD9_2020),
            stroke(.eraser, style, 20, [(60, 10), (70, 60), (60, 120), (90, 180), (60, 235)]),
            stroke(.line, style, 12, [(20, 150), (300, 150)], 0x1F_4FD8),
            stroke(.eraser, style, 20, [(160, 10), (150, 60), (170, 120), (150, 180), (160, 235)]),
            stroke(.eraser, style, 26, [(200, 60)]),
            stroke(.line, style, 8, [(20, 100), (300, 180)], 0x1A_9850),
            stroke(.eraser, style, 14, [(250, 10), (260, 90), (240, 160), (250, 235)]),
            stroke(.line, style, 5, [(200, 200), (310, 20)], 0xF0_8C00),
        ]
    }

    static func stroke(
        _ element: Element, _ style: InkStyle, _ width: Double, _ points: [(Double, Double)], _ colour: UInt32 = 0
    ) -> PaintedStroke {
        PaintedStroke(
            stroke: InkStroke(
                element: element, style: style, width: width, points: points.map { StrokePoint(x: $0.0, y: $0.1) }),
            colour: RGB(colour))
    }

    static func canvas(
        _ strokes: [PaintedStroke], width: Int = 320, height: Int = 240, scale: Int = 1
    ) -> Canvas {
        var canvas = Canvas(width: width * scale, height: height * scale)
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: Double(scale))
        for stroke in strokes { painter.draw(stroke, on: &canvas) }
        return canvas
    }
}
