extension AreaRows {
    /// Adds the waiting pieces to the cells.
    mutating func settle() {
        workOut()
        let shift = UInt64(truncatingIfNeeded: blocks.shift)
        for index in 0..<pieces.count {
            let y = Int(truncatingIfNeeded: pieces.rows[index])
            let first = UInt64(truncatingIfNeeded: pieces.columns[index])
            let cell = cells + (y &* stride &+ Int(truncatingIfNeeded: first))
            cell[0] += pieces.startX[index]
            cell[1] += pieces.endX[index]
            cell[2] += pieces.startY[index]
            cell[3] += pieces.endY[index]
            marks[y] |= 1 &<< (first &>> shift) | 1 &<< ((first &+ 3) &>> shift)
        }
        pieces.removeAll()
    }

    /// Works out what the pieces add to their pixels, and which ones those are.
    ///
    /// What a piece covers of the pixels from its own first column on is a sum of two: its height times how far it is
    /// from the right border of a pixel, on average, and the area of its bend. Of a parabola with an upright axis the
    /// part p of its width, from the left, holds the part 3p² − 2p³ of that area; others are so narrow that it does not
    /// matter.
    private func workOut() {
        let right = Float(width)
        var index = 0
        while index < pieces.count {
            let start = (pieces.startX + index).four.raised(to: 0).lowered(to: right)
            let end = (pieces.endX + index).four.raised(to: 0).lowered(to: right)
            let left = end.lowered(to: start)
            let extent = end.raised(to: start) - left
            var fall = (pieces.endY + index).four - (pieces.startY + index).four
            let share = (pieces.endAt + index).four - (pieces.startAt + index).four
            var bend = share * share * share * (pieces.curve + index).four
            let isWide = extent .> SidePieces.widest
            if any(isWide) {
                spreadWide(index, from: start, to: end, fall: fall, bend: bend)
                fall.replace(with: 0, where: isWide)
                bend.replace(with: 0, where: isWide)
            }
            // Even what stands upright is given some width: a 256th of a pixel, for the sake of the division.
            let wide = extent.raised(to: 0x1p-8)
            let shifted = (left - 0.5) + .shift
            UnsafeMutableRawPointer(pieces.columns + index).storeBytes(
                of: unsafeBitCast(shifted, to: SIMD4<UInt32>.self) & 0x3F_FFFF, as: SIMD4<UInt32>.self)
            let first = left - (shifted - .shift)
            let last = first + wide
            let perWide = 1 / wide
            let half = fall * 0.5
            // How far both ends are left of the right border of the first pixel, the second and the third.
            let first1 = 1 - first
            let last1 = (1 - last).raised(to: 0)
            let first2 = 2 - first
            let last2 = (2 - last).raised(to: 0)
            let part1 = (first1 - last1) * perWide
            let part2 = (first2 - last2) * perWide
            // What is covered up to those borders.
            let to1 = part1 * ((first1 + last1) * half + part1 * (3 - 2 * part1) * bend)
            let to2 = part2 * ((first2 + last2) * half + part2 * (3 - 2 * part2) * bend)
            let to3 = (6 - first - last) * half + bend
            let covered2 = to2 - to1
            let covered3 = to3 - to2
            (pieces.startX + index).store(to1)
            (pieces.endX + index).store(covered2 - to1)
            (pieces.startY + index).store(covered3 - covered2)
            (pieces.endY + index).store(fall - covered3)
            index &+= 4
        }
    }

    /// Adds those of four pieces to the cells that are wider than the others may be.
    private func spreadWide(
        _ index: Int, from start: SIMD4<Float>, to end: SIMD4<Float>, fall: SIMD4<Float>, bend: SIMD4<Float>
    ) {
        for lane in 0..<min(4, pieces.count &- index) where abs(end[lane] - start[lane]) > SidePieces.widest {
            spread(
                Int(truncatingIfNeeded: pieces.rows[index &+ lane]), from: start[lane], to: end[lane],
                fall: fall[lane], bend: bend[lane])
        }
    }

    /// Adds a piece of one row to any number of pixels: a chord, and a parabola with an upright axis above it.
    private func spread(_ y: Int, from start: Float, to end: Float, fall: Float, bend: Float) {
        let left = start < end ? start : end
        let right = start < end ? end : start
        let wide = right - left
        let perColumn = 1 / wide
        let whole = (left - 0.5) + .shift
        let column = Int(truncatingIfNeeded: whole.bitPattern & 0x3F_FFFF)
        let row = UnsafeMutableRawPointer(cells + (y &* stride &+ column))
        // How far the left borders of the columns are from the left end.
        var border = SIMD4<Float>(0, 1, 2, 3) + ((whole - .shift) - left)
        let steep = fall * 0.5
        var offset = 0
        var before: Float = 0
        var covered: Float = 0
        repeat {
            // What is covered up to the right borders of the columns.
            let passed = (border + 1).raised(to: 0)
            let part = (passed * perColumn).lowered(to: 1)
            let behind = (passed - wide).raised(to: 0)
            let to = part * ((passed + behind) * steep + part * (3 - 2 * part) * bend)
            let share = to - SIMD4(before, to.x, to.y, to.z)
            let change = share - SIMD4(covered, share.x, share.y, share.z)
            let old = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
            row.storeBytes(of: old + change, toByteOffset: offset, as: SIMD4<Float>.self)
            before = to.w
            covered = share.w
            border += 4
            offset &+= 16
        } while border.x < wide + 1
        marks[y] |= blocks.bits(column..<column &+ offset / 4)
    }
}
