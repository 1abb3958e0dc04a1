internal import CLanes

extension AreaRows {
    /// The farthest a piece may go to one side, in pixels, to be one of four that are worked out at once.
    private static let widest: Float = 2

    /// Adds the waiting pieces to the cells.
    mutating func settle() {
        workOut()
        var index = 0
        while index &+ 4 <= pieces.count {
            let sums = pieces.sums(index)
            add(sums.x, index)
            add(sums.y, index &+ 1)
            add(sums.z, index &+ 2)
            add(sums.w, index &+ 3)
            index &+= 4
        }
        if index < pieces.count {
            let sums = pieces.sums(index)
            add(sums.x, index)
            if index &+ 1 < pieces.count { add(sums.y, index &+ 1) }
            if index &+ 2 < pieces.count { add(sums.z, index &+ 2) }
        }
        pieces.removeAll()
    }

    /// Adds to four cells what a piece adds.
    @inline(__always)
    private func add(_ sums: SIMD4<Float>, _ index: Int) {
        let y = Int(truncatingIfNeeded: pieces.rows[index])
        let column = Int(truncatingIfNeeded: pieces.columns[index])
        let cell = cells + (y &* stride &+ column)
        cell.store(cell.four + sums)
        let shift = UInt64(truncatingIfNeeded: blocks.shift)
        let first = UInt64(truncatingIfNeeded: column)
        marks[y] |= 1 &<< (first &>> shift) | 1 &<< ((first &+ 3) &>> shift)
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
            var fall = (pieces.fall + index).four
            var bend = (pieces.bend + index).four
            let isWide = extent .> Self.widest
            if any(isWide) {
                spreadWide(index, from: start, to: end)
                fall.replace(with: 0, where: isWide)
                bend.replace(with: 0, where: isWide)
            }
            // Even what stands upright is given some width: a 256th of a pixel, for the sake of the division.
            let wide = extent.raised(to: 0x1p-8)
            let column = lanes_whole(left)
            UnsafeMutableRawPointer(pieces.columns + index).storeBytes(of: column, as: SIMD4<Int32>.self)
            let first = left - lanes_floats(column)
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
            (pieces.fall + index).store(covered3 - covered2)
            (pieces.bend + index).store(fall - covered3)
            index &+= 4
        }
    }

    /// Adds those of four pieces to the cells that are wider than the others may be.
    private func spreadWide(_ index: Int, from start: SIMD4<Float>, to end: SIMD4<Float>) {
        for lane in 0..<min(4, pieces.count &- index) where abs(end[lane] - start[lane]) > Self.widest {
            spread(
                Int(truncatingIfNeeded: pieces.rows[index &+ lane]), from: start[lane], to: end[lane],
                fall: pieces.fall[index &+ lane], bend: pieces.bend[index &+ lane])
        }
    }

    /// Adds a piece of one row to any number of pixels: a chord, and a parabola with an upright axis above it.
    private func spread(_ y: Int, from start: Float, to end: Float, fall: Float, bend: Float) {
        let left = start < end ? start : end
        let right = start < end ? end : start
        let wide = right - left
        let perColumn = 1 / wide
        let column = left.cell
        let row = UnsafeMutableRawPointer(cells + (y &* stride &+ Int(truncatingIfNeeded: column)))
        // How far the left borders of the columns are from the left end.
        var border = SIMD4<Float>(0, 1, 2, 3) + (Float(column) - left)
        let steep = fall * 0.5
        var offset = 0
        var before = SIMD4<Float>.zero
        var covered = SIMD4<Float>.zero
        repeat {
            // What is covered up to the right borders of the columns.
            let passed = (border + 1).raised(to: 0)
            let part = (passed * perColumn).lowered(to: 1)
            let behind = (passed - wide).raised(to: 0)
            let to = part * ((passed + behind) * steep + part * (3 - 2 * part) * bend)
            let share = to - lanes_behind(before, to)
            let change = share - lanes_behind(covered, share)
            let old = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
            row.storeBytes(of: old + change, toByteOffset: offset, as: SIMD4<Float>.self)
            before = lanes_last(to)
            covered = lanes_last(share)
            border += 4
            offset &+= 16
        } while border.x < wide + 1
        marks[y] |= blocks.bits(Int(column)..<Int(column) &+ offset / 4)
    }
}
