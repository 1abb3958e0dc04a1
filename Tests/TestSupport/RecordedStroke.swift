package import StrokeWire

/// A stroke of a recorded lesson, joined from its shards.
package struct RecordedStroke {
    package let element: Element
    package let width: Double
    /// `0xRRGGBB`.
    package let colour: UInt32
    package fileprivate(set) var points: [StrokePoint]
}

extension RecordedLesson {
    /// The drawn strokes in their order, without undo, redo and clear.
    package func strokes() throws -> [RecordedStroke] {
        var strokes: [RecordedStroke] = []
        var last: Int64?
        for bytes in try messages() {
            let message = try StrokeMessage(decoding: bytes)
            guard message.action == .draw else { continue }
            let points = message.decodePoints(of: bytes)
            if message.number == last {
                strokes[strokes.count - 1].points += points
            } else {
                strokes.append(
                    RecordedStroke(
                        element: message.element, width: message.width, colour: Palette.standard[message.colour] ?? 0,
                        points: points))
            }
            last = message.number
        }
        return strokes
    }
}
