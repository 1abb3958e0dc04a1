import StrokeWire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The script of the demo lesson, on a board of 1024 × 768.
enum DemoScript {
    /// Newton's second law.
    static let firstBoard: [DemoStep] = [
        .write("Newton's 2nd law", at: Place(60, 90), size: 24),
        .line(Place(58, 108), Place(530, 104), .red),
        .pause(milliseconds: 600),
        .write("F = m a", at: Place(110, 220), size: 40, .blue),
        .box(.rectangle, Place(80, 130), Place(465, 250), .red),
        .pause(milliseconds: 500),
        .write("force", at: Place(70, 350), size: 18),
        .arrow(Place(110, 320), Place(130, 262), .grey),
        .write("mass", at: Place(240, 350), size: 18),
        .arrow(Place(270, 322), Place(280, 262), .grey),
        // Written wrong, taken back, written anew.
        .write("velo", at: Place(370, 350), size: 18),
        .undo(4),
        .write("accel", at: Place(370, 350), size: 18),
        .undo(3), .redo(3),
        .write("eration", at: Place(480, 350), size: 18),
        .arrow(Place(420, 322), Place(385, 262), .grey),
        .pause(milliseconds: 500),
        // A block that is pulled along the ground.
        .line(Place(580, 260), Place(980, 260), .black),
        .box(.rectangle, Place(650, 180), Place(760, 258), .black),
        .write("m", at: Place(690, 228), size: 20),
        .box(.ellipse, Place(676, 198), Place(735, 240), .orange),
        .arrow(Place(762, 215), Place(880, 215), .blue),
        .write("F", at: Place(890, 212), size: 20, .blue),
        .write("friction?", at: Place(640, 310), size: 16, .violet),
        .erase(zigzag(from: Place(630, 284), to: Place(815, 318)), width: 34),
        .pause(milliseconds: 400),
        .write("m = 3 kg", at: Place(90, 460), size: 22),
        .write("a = 2 m/s^2", at: Place(90, 530), size: 22),
        .write("F = 3 · 2 = 6 N", at: Place(420, 495), size: 26, .blue),
        .box(.ellipse, Place(735, 440), Place(880, 525), .red),
        .curve(wave(from: Place(735, 545), length: 150, height: 5, periods: 6), .green),
        .write("twice the force: twice the acceleration", at: Place(90, 650), size: 20, .green),
        .line(Place(88, 668), Place(318, 666), .red),
        .write("F_1 + F_2 = 0 ?", at: Place(640, 725), size: 18, .violet),
        .pause(milliseconds: 700),
    ]

    /// The parabola, its slope, and a sine.
    static let secondBoard: [DemoStep] = [
        .write("y = x^2", at: Place(70, 90), size: 28, .blue),
        .arrow(Place(80, 400), Place(460, 400), .black),
        .arrow(Place(260, 440), Place(260, 120), .black),
        .write("x", at: Place(470, 405), size: 16),
        .write("y", at: Place(276, 135), size: 16),
        .curve(parabola(vertex: Place(260, 400), reach: 160, height: 250), .green),
        .line(Place(290, 415), Place(430, 220), .red),
        .write("slope = 2x", at: Place(445, 250), size: 20, .red),
        .line(Place(440, 262), Place(680, 258), .red),
        .pause(milliseconds: 600),
        .arrow(Place(80, 620), Place(940, 620), .black),
        .curve(wave(from: Place(100, 620), length: 760, height: 70, periods: 3), .violet),
        .write("cos t", at: Place(740, 520), size: 20, .violet),
        .erase(zigzag(from: Place(734, 492), to: Place(850, 518)), width: 34),
        .write("sin t", at: Place(860, 560), size: 20, .violet),
        .undo(2), .redo(1), .undo(1),
        .write("t", at: Place(926, 560), size: 20, .violet),
        .write("energy: E = m v^2/2", at: Place(560, 130), size: 20),
        .box(.rectangle, Place(728, 82), Place(998, 150), .orange),
        .write("area = 1/2 F x", at: Place(560, 350), size: 20, .black),
        .box(.ellipse, Place(540, 300), Place(915, 376), .blue),
        .write("homework: slope at x = 3", at: Place(90, 735), size: 18),
        .pause(milliseconds: 300),
    ]

    /// Ink on the three slides of ``DemoSlides``, on these pages, and on page 0.
    static func onSlides(_ pages: [Int]) -> [DemoStep] {
        title + [.turn(pages[1])] + diagram + [.turn(pages[2])] + chart + [.turn(0)] + homework
            + [.turn(pages[1])] + result
    }

    private static let title: [DemoStep] = [
        .pause(milliseconds: 900),
        .line(Place(112, 392), Place(590, 388), .red),
        .write("F = m a", at: Place(150, 540), size: 44, .blue),
        .box(.ellipse, Place(95, 445), Place(540, 590), .red),
        .point([
            Place(170, 610), Place(215, 600), Place(300, 606), Place(360, 596), Place(420, 604), Place(480, 600),
        ]),
        .type("force = mass × acceleration", at: Place(150, 620), size: 40, .blue),
        .pause(milliseconds: 900),
    ]

    /// The block is marked and moved to where it is two seconds later, marks and all; back and forth, to be seen well.
    private static let diagram: [DemoStep] = [
        .pause(milliseconds: 700),
        .write("3 kg", at: Place(200, 400), size: 22, .blue),
        .write("6 N", at: Place(420, 460), size: 22, .red),
        .box(.ellipse, Place(180, 368), Place(300, 412), .orange),
        .pause(milliseconds: 600),
        .lasso(
            smooth([
                Place(130, 350), Place(350, 340), Place(550, 350), Place(556, 450), Place(550, 551), Place(340, 552),
                Place(132, 551), Place(126, 450), Place(130, 350),
            ]), right: 440, down: 0),
        .pause(milliseconds: 1200), .undo(1), .pause(milliseconds: 700), .redo(1),
        .arrow(Place(190, 500), Place(570, 500), .grey),
        .write("2 s later", at: Place(230, 470), size: 20, .violet),
        .pause(milliseconds: 700),
    ]

    private static let chart: [DemoStep] = [
        .pause(milliseconds: 700),
        .curve(
            [
                Place(140, 639), Place(220, 622), Place(370, 568), Place(520, 478), Place(670, 352), Place(820, 190),
            ], .green),
        .write("s = 1/2 a t^2", at: Place(190, 250), size: 28, .green),
        .line(Place(585, 432), Place(755, 272), .red),
        .write("v = a t", at: Place(400, 360), size: 24, .red),
        .box(.rectangle, Place(170, 192), Place(575, 282), .orange),
        .point([Place(150, 636), Place(370, 566), Place(520, 476), Place(670, 350), Place(810, 200)]),
        .pause(milliseconds: 700),
    ]

    private static let homework: [DemoStep] = [
        .rule(.squares, page: 0),
        .write("homework", at: Place(90, 120), size: 26),
        .line(Place(88, 136), Place(330, 132), .black),
        .write("s = 12 m ?", at: Place(90, 260), size: 24, .violet),
        .clear,
        .write("how far after 6 s?", at: Place(90, 140), size: 26),
        .pause(milliseconds: 500),
    ]

    private static let result: [DemoStep] = [
        .pause(milliseconds: 500),
        .write("a = F/m = 2 m/s^2", at: Place(150, 690), size: 28, .green),
        .line(Place(148, 708), Place(560, 704), .red),
        .pause(milliseconds: 600),
    ]

    private static func smooth(_ places: [Place]) -> [Place] { PenPath.smooth(places, step: 12) }

    private static func zigzag(from: Place, to: Place) -> [Place] {
        let turns = 8
        return (0...turns).map { turn in
            Place(from.x + (to.x - from.x) * Double(turn) / Double(turns), turn.isMultiple(of: 2) ? from.y : to.y)
        }
    }

    private static func parabola(vertex: Place, reach: Double, height: Double) -> [Place] {
        (-8...8).map { k in
            let u = Double(k) / 8
            return Place(vertex.x + reach * u, vertex.y - height * u * u)
        }
    }

    private static func wave(from start: Place, length: Double, height: Double, periods: Int) -> [Place] {
        let steps = periods * 8
        return (0...steps).map { k in
            let u = Double(k) / Double(steps)
            return Place(start.x + length * u, start.y - height * sin(u * Double(periods) * 2 * .pi))
        }
    }
}
