import Ink

@testable import Raster

extension Canvas {
    /// Layers on nothing.
    init(
        width: Int, height: Int, scale: Double = 1, kernels: Kernels = .fastest, drawing layers: [LayerContent]
    ) {
        self.init(width: width, height: height)
        var painter = StrokePainter(canvasWidth: width, canvasHeight: height, scale: scale, kernels: kernels)
        for layer in layers { painter.draw(layer, on: &self) }
    }

    /// A stroke on nothing.
    init(
        width: Int, height: Int, scale: Double = 1, kernels: Kernels = .fastest, drawing stroke: InkStroke,
        _ colour: UInt32 = 0
    ) {
        let layers = [LayerContent.stroke(PaintedStroke(stroke: stroke, colour: RGB(colour)))]
        self.init(width: width, height: height, scale: scale, kernels: kernels, drawing: layers)
    }

    /// All pixels, row by row.
    var allPixels: [UInt32] { (0..<height).flatMap { y in (0..<width).map { pixel(x: $0, y: y) } } }

    var isBlank: Bool { allPixels.allSatisfy { $0 == 0 } }

    /// The greatest difference of alpha from another canvas of the same size.
    func alphaDifference(from other: Canvas) -> Int {
        zip(allPixels, other.allPixels).reduce(0) { max($0, abs(Int($1.0 >> 24) - Int($1.1 >> 24))) }
    }
}

/// A visible list of layers, with what each shows.
protocol VisibleLayers {
    var visible: [UInt64] { get }
    func content(_ place: Int) -> LayerContent
}

extension VisibleLayers {
    var layers: [BoardLayer] {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        return visible.map { id in
            digest = (digest ^ id) &* 0x100_0000_01B3
            return BoardLayer(id: id, digest: digest)
        }
    }

    /// The board as a painter draws it that knows nothing of any other.
    func drawn(width: Int, height: Int) -> Canvas {
        Canvas(width: width, height: height, drawing: visible.indices.map { content($0) })
    }
}
