internal import Ink

extension SVGDocument {
    /// Adds one path for each kind of marks, with the kind as its id.
    mutating func add(_ overlay: DebugOverlay) {
        for marks in overlay.marks {
            text.append("<path id=\"")
            text.append(contentsOf: marks.kind.rawValue.utf8)
            text.append("\" fill=\"none\" stroke-linecap=\"round\"")
            attribute("stroke", marks.kind.colour)
            attribute("stroke-width", marks.kind.pixels / overlay.scale)
            var path = SVGPath(scale: numbers)
            for polyline in marks.polylines {
                guard let first = polyline.first else { continue }
                path.begin(at: first, nib: Nib(width: 0))
                for corner in polyline.dropFirst() { path.line(to: corner) }
                path.finish()
            }
            text.append(" d=\"")
            text.append(contentsOf: path.text)
            text.append("\"/>\n")
        }
    }
}
