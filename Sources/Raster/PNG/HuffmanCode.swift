/// The shortest prefix code for given frequencies, in the canonical form of RFC 1951, section 3.2.2.
struct HuffmanCode {
    /// The bits of the longest code: the codes of four literals fit into one write. The bound makes files less than 1 %
    /// longer.
    static let longest = 12

    /// Bits a symbol; 0 for one that does not occur.
    let lengths: [UInt8]
    /// The codes, first bit lowest.
    let codes: [UInt16]

    init(frequencies: [Int]) {
        lengths = Self.lengths(frequencies)
        codes = Self.codes(lengths)
    }

    private static func lengths(_ frequencies: [Int]) -> [UInt8] {
        var lengths = [UInt8](repeating: 0, count: frequencies.count)
        let rarestFirst = frequencies.indices.filter { frequencies[$0] > 0 }
            .sorted { (frequencies[$0], $0) < (frequencies[$1], $1) }
        guard rarestFirst.count > 1 else {
            for symbol in rarestFirst { lengths[symbol] = 1 }
            return lengths
        }
        var symbols = rarestFirst[...]
        let counts = shortened(depths(rarestFirst.map { frequencies[$0] }))
        for length in counts.indices.reversed() {
            for symbol in symbols.prefix(counts[length]) { lengths[symbol] = UInt8(length) }
            symbols = symbols.dropFirst(counts[length])
        }
        return lengths
    }

    /// The number of leaves of Huffman's tree at each depth; deeper ones count at ``longest``.
    ///
    /// Leaves are in order of their weight, and inner nodes are made in that order: the two lightest nodes are the next of
    /// either.
    private static func depths(_ leaves: [Int]) -> [Int] {
        var weights = leaves
        var parents = [Int](repeating: 0, count: 2 * leaves.count - 1)
        var leaf = 0
        var inner = leaves.count
        for node in leaves.count..<parents.count {
            var sum = 0
            for _ in 0..<2 {
                let isLeaf = leaf < leaves.count && (inner == node || weights[leaf] <= weights[inner])
                let lightest = isLeaf ? leaf : inner
                if isLeaf { leaf += 1 } else { inner += 1 }
                parents[lightest] = node
                sum += weights[lightest]
            }
            weights.append(sum)
        }
        var depths = [Int](repeating: 0, count: parents.count)
        var counts = [Int](repeating: 0, count: longest + 1)
        for node in (0..<parents.count - 1).reversed() {
            depths[node] = depths[parents[node]] + 1
            if node < leaves.count { counts[min(depths[node], longest)] += 1 }
        }
        return counts
    }

    /// Codes cut off at ``longest`` need more room than there is. Until it suffices, the longest code that can still grow
    /// becomes an inner node, with one of the cut codes beside it.
    private static func shortened(_ counts: [Int]) -> [Int] {
        var counts = counts
        var room = counts.indices.dropFirst().reduce(0) { $0 + counts[$1] << (longest - $1) }
        while room > 1 << longest, let length = (1..<longest).last(where: { counts[$0] > 0 }) {
            counts[length] -= 1
            counts[length + 1] += 2
            counts[longest] -= 1
            room -= 1
        }
        return counts
    }

    private static func codes(_ lengths: [UInt8]) -> [UInt16] {
        var next = [UInt16](repeating: 0, count: longest + 2)
        for length in 1...longest {
            let count = lengths.count { $0 == length }
            next[length + 1] = (next[length] + UInt16(count)) << 1
        }
        return lengths.map { length in
            guard length > 0 else { return 0 }
            let code = next[Int(length)]
            next[Int(length)] += 1
            return (0..<UInt16(length)).reduce(0) { $0 << 1 | code >> $1 & 1 }
        }
    }
}

/// Some bits, the first one lowest; at most 56.
struct Bits {
    let value: UInt64
    let length: Int

    /// Both, one after the other.
    @inline(__always)
    func followed(by value: UInt64, length: Int) -> Bits {
        Bits(value: self.value | value &<< UInt64(self.length), length: self.length &+ length)
    }
}

/// Writes bits in the order of deflate: the first is the lowest bit of the first byte.
struct BitWriter {
    /// Room behind the last byte, for writes of a word.
    private static let slack = 8

    private var memory: [UInt8] = []
    private var count = 0
    /// The bits behind the last byte, fewer than eight.
    private var rest = Bits(value: 0, length: 0)

    /// Makes room for so many bits.
    mutating func reserve(bits: Int) {
        let needed = count + bits / 8 + 1 + Self.slack
        guard needed > memory.count else { return }
        memory.append(contentsOf: repeatElement(0, count: needed - memory.count))
    }

    /// Lends a cursor that writes into the room that was made.
    @inline(__always)
    mutating func withCursor(_ body: (inout Cursor) -> Void) {
        memory.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            var cursor = Cursor(place: base + count, bits: rest.value, count: UInt64(rest.length))
            body(&cursor)
            count = cursor.place - base
            rest = Bits(value: cursor.bits, length: Int(cursor.count))
        }
    }

    /// Fills up the last byte with zeros and adds some bytes.
    mutating func end(with bytes: [UInt8]) {
        reserve(bits: 8 * (1 + bytes.count))
        withCursor { cursor in
            cursor.fillByte()
            for byte in bytes { cursor.write(Bits(value: UInt64(byte), length: 8)) }
        }
    }

    /// Lends the whole bytes so far, and forgets them.
    mutating func takeBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        memory.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<count])) }
        count = 0
    }

    /// A place in memory.
    struct Cursor {
        fileprivate var place: UnsafeMutableRawPointer
        fileprivate var bits: UInt64
        /// Fewer than eight between two writes.
        fileprivate var count: UInt64

        /// Ends the byte with zeros.
        fileprivate mutating func fillByte() { write(Bits(value: 0, length: Int((8 &- count) & 7))) }

        /// Writes bits; those of the value above its length are 0.
        @inline(__always)
        mutating func write(_ next: Bits) {
            bits |= next.value &<< count
            count &+= UInt64(truncatingIfNeeded: next.length)
            place.storeBytes(of: bits.littleEndian, as: UInt64.self)
            place += Int(truncatingIfNeeded: count &>> 3)
            bits &>>= count & ~7
            count &= 7
        }
    }
}
