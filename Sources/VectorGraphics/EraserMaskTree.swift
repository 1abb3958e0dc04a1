internal import Raster

/// Strokes and the erasers above them, as groups with masks, for transparent paper.
///
/// Strokes and erasers alternate in runs; the erasers of a run mask all strokes below. One group within the other would
/// be as deep as there are runs, deeper than SVG readers allow. So the runs are halved: all erasers of the upper half
/// mask the lower half at once, and so on in either half. The masks of n runs have n·log₂ n erasers, and groups are
/// log₂ n deep. The picture differs at the soft edges of erasers only.
struct EraserMaskTree {
    private struct Run {
        var strokes: [DrawableStroke] = []
        /// The erasers above the strokes, by index in `erasers`.
        var erasers: Range<Int>
    }

    private var runs: [Run] = []
    private var erasers: [DrawableStroke] = []

    init(_ strokes: [DrawableStroke]) {
        var run = Run(erasers: 0..<0)
        for stroke in strokes {
            if stroke.isErasing {
                erasers.append(stroke)
                run.erasers = run.erasers.lowerBound..<erasers.count
            } else {
                if !run.erasers.isEmpty {
                    runs.append(run)
                    run = Run(erasers: erasers.count..<erasers.count)
                }
                run.strokes.append(stroke)
            }
        }
        runs.append(run)
    }

    /// - Parameters:
    ///   - byteLimit: bytes of the document at most.
    ///   - isWanted: called before each part; false ends the drawing.
    func write(
        to document: inout SVGDocument, byteLimit: Int, while isWanted: () -> Bool
    ) throws(DrawingStopped) {
        if !erasers.isEmpty {
            document.text.append("<defs>\n")
            for (id, eraser) in erasers.enumerated() { document.add(eraser, colour: RGB(0), id: id) }
            document.text.append("</defs>\n")
        }
        var masks = 0
        try write(runs.indices, to: &document, masks: &masks) { (document) throws(DrawingStopped) in
            guard isWanted() else { throw .unwanted }
            guard document.text.count <= byteLimit else { throw .tooLarge }
        }
    }

    private func write(
        _ part: Range<Int>, to document: inout SVGDocument, masks: inout Int,
        check: (borrowing SVGDocument) throws(DrawingStopped) -> Void
    ) throws(DrawingStopped) {
        try check(document)
        guard part.count > 1 else {
            let run = runs[part.lowerBound]
            return try masked(by: run.erasers, to: &document, masks: &masks) { (document, _) throws(DrawingStopped) in
                for stroke in run.strokes { document.add(stroke, colour: stroke.colour) }
            }
        }
        let middle = part.lowerBound + part.count / 2
        let upper = runs[middle].erasers.lowerBound..<runs[part.upperBound - 1].erasers.upperBound
        try masked(by: upper, to: &document, masks: &masks) { (document, masks) throws(DrawingStopped) in
            try write(part.lowerBound..<middle, to: &document, masks: &masks, check: check)
        }
        try write(middle..<part.upperBound, to: &document, masks: &masks, check: check)
    }

    private func masked(
        by erasers: Range<Int>, to document: inout SVGDocument, masks: inout Int,
        _ content: (inout SVGDocument, inout Int) throws(DrawingStopped) -> Void
    ) throws(DrawingStopped) {
        guard !erasers.isEmpty else { return try content(&document, &masks) }
        let mask = masks
        masks += 1
        document.text.append("<mask")
        document.append(id: mask, "m")
        document.text.append(" maskUnits=\"userSpaceOnUse\" x=\"0\" y=\"0\" width=\"100%\" height=\"100%\">")
        document.text.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")
        for eraser in erasers {
            document.text.append("<use href=\"#e")
            document.text.append(integer: eraser)
            document.text.append("\"/>")
        }
        document.text.append("</mask>\n<g mask=\"url(#m")
        document.text.append(integer: mask)
        document.text.append(")\">\n")
        try content(&document, &masks)
        document.text.append("</g>\n")
    }
}
