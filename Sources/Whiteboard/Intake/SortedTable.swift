internal import StrokeWire

/// A sorted map from numbers to values.
///
/// Kept in chunks of at most 32 elements, so that inserting or removing one moves few others.
struct SortedTable<Value: Sendable>: Sendable {
    struct Element: Sendable {
        let number: Int64
        var value: Value
    }

    /// The position of an element, or where it would be inserted.
    private struct Place {
        var chunk: Int
        var offset: Int
    }

    private static var chunkBound: Int { 32 }

    /// None is empty.
    private var chunks: [[Element]] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: Element? { chunks.first?.first }
    var last: Element? { chunks.last?.last }

    subscript(number: Int64) -> Value? {
        let place = place(of: number)
        return holds(number, at: place) ? chunks[place.chunk][place.offset].value : nil
    }

    func contains(_ number: Int64) -> Bool { holds(number, at: place(of: number)) }

    /// The element with the greatest number below `number`.
    func last(below number: Int64) -> Element? {
        let place = place(of: number)
        if place.offset > 0 { return chunks[place.chunk][place.offset - 1] }
        return place.chunk > 0 ? chunks[place.chunk - 1].last : nil
    }

    /// The element with the least number that is `number` or above.
    func first(from number: Int64) -> Element? {
        let place = place(of: number)
        return place.chunk < chunks.count ? chunks[place.chunk][place.offset] : nil
    }

    /// The elements from `number` on.
    func elements(from number: Int64) -> Elements {
        let place = place(of: number)
        return Elements(chunks: chunks, chunk: place.chunk, offset: place.offset)
    }

    /// Inserts a value, or replaces that of the number.
    mutating func insert(_ value: Value, at number: Int64) {
        let place = place(of: number)
        if holds(number, at: place) {
            chunks[place.chunk][place.offset].value = value
            return
        }
        count += 1
        let element = Element(number: number, value: value)
        if place.chunk == chunks.count {
            if let last = chunks.last, last.count < Self.chunkBound {
                chunks[chunks.count - 1].append(element)
            } else {
                chunks.append([element])
            }
            return
        }
        chunks[place.chunk].insert(element, at: place.offset)
        guard chunks[place.chunk].count > Self.chunkBound else { return }
        let upper = Array(chunks[place.chunk][(Self.chunkBound / 2)...])
        chunks[place.chunk].removeSubrange((Self.chunkBound / 2)...)
        chunks.insert(upper, at: place.chunk + 1)
    }

    @discardableResult
    mutating func remove(_ number: Int64) -> Value? {
        let place = place(of: number)
        guard holds(number, at: place) else { return nil }
        count -= 1
        let removed = chunks[place.chunk].remove(at: place.offset)
        if chunks[place.chunk].isEmpty {
            chunks.remove(at: place.chunk)
        } else if place.chunk + 1 < chunks.count,
            chunks[place.chunk].count + chunks[place.chunk + 1].count <= Self.chunkBound / 2
        {
            chunks[place.chunk] += chunks.remove(at: place.chunk + 1)
        }
        return removed.value
    }

    /// Changes the value of a number in place.
    /// - Returns: nil where the number has none.
    mutating func update<Result>(_ number: Int64, _ body: (inout Value) -> Result) -> Result? {
        let place = place(of: number)
        guard holds(number, at: place) else { return nil }
        return body(&chunks[place.chunk][place.offset].value)
    }

    private func holds(_ number: Int64, at place: Place) -> Bool {
        place.chunk < chunks.count && chunks[place.chunk][place.offset].number == number
    }

    /// Place of the first element at or above `number`.
    private func place(of number: Int64) -> Place {
        let chunk = chunks.partitioningIndex { $0[$0.count - 1].number >= number }
        guard chunk < chunks.count else { return Place(chunk: chunk, offset: 0) }
        let offset = chunks[chunk].partitioningIndex { $0.number >= number }
        return Place(chunk: chunk, offset: offset)
    }
}

extension SortedTable: Sequence {
    /// Elements in order, from a place on.
    struct Elements: Sequence, IteratorProtocol {
        fileprivate let chunks: [[Element]]
        fileprivate var chunk: Int
        fileprivate var offset: Int

        mutating func next() -> Element? {
            guard chunk < chunks.count else { return nil }
            defer {
                offset += 1
                if offset == chunks[chunk].count {
                    chunk += 1
                    offset = 0
                }
            }
            return chunks[chunk][offset]
        }
    }

    func makeIterator() -> Elements { Elements(chunks: chunks, chunk: 0, offset: 0) }
}
