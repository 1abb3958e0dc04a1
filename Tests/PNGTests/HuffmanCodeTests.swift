import TestSupport
import Testing

@testable import PNG

@Suite("A Huffman code")
struct HuffmanCodeTests {
    /// Bits that Huffman's own tree takes: the sum of all inner nodes.
    private func leastBits(_ frequencies: [Int]) -> Int {
        var weights = frequencies.filter { $0 > 0 }
        var bits = 0
        while weights.count > 1 {
            weights.sort(by: >)
            let sum = weights.removeLast() + weights.removeLast()
            bits += sum
            weights.append(sum)
        }
        return bits
    }

    private func bits(_ code: HuffmanCode, _ frequencies: [Int]) -> Int {
        zip(code.lengths, frequencies).reduce(0) { $0 + Int($1.0) * $1.1 }
    }

    private func expectPrefixCode(_ code: HuffmanCode, _ frequencies: [Int], _ comment: Comment) {
        let used = frequencies.indices.filter { frequencies[$0] > 0 }
        #expect(code.lengths.indices.filter { code.lengths[$0] > 0 } == used, comment)
        #expect(code.lengths.allSatisfy { $0 <= HuffmanCode.longest }, comment)
        let room = used.reduce(0) { $0 + 1 << (HuffmanCode.longest - Int(code.lengths[$1])) }
        #expect(used.count == 1 || room == 1 << HuffmanCode.longest, comment)
        for one in used {
            for other in used where other != one && code.lengths[one] <= code.lengths[other] {
                let mask = UInt16(1) << code.lengths[one] - 1
                #expect(code.codes[one] != code.codes[other] & mask, comment)
            }
        }
    }

    @Test("is complete, and the shortest there is where no code is too long")
    func shortest() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let frequencies =
                (0..<Int.random(in: 2...60, using: &random)).map { _ in
                    Int.random(in: 0...20, using: &random)
                } + [1, 1]
            let code = HuffmanCode(frequencies: frequencies)
            expectPrefixCode(code, frequencies, "seed \(seed)")
            if code.lengths.allSatisfy({ $0 < HuffmanCode.longest }) {
                #expect(bits(code, frequencies) == leastBits(frequencies), "seed \(seed)")
            }
        }
    }

    @Test("stays within its bound where Huffman's tree does not, and close to it", arguments: [13, 20, 40])
    func bounded(symbols: Int) {
        var fibonacci = [1, 1]
        while fibonacci.count < symbols {
            fibonacci.append(fibonacci[fibonacci.count - 1] + fibonacci[fibonacci.count - 2])
        }
        let code = HuffmanCode(frequencies: fibonacci)
        expectPrefixCode(code, fibonacci, "\(symbols) symbols")
        #expect(bits(code, fibonacci) <= leastBits(fibonacci) * 103 / 100)
    }

    @Test("has one bit for the only symbol")
    func single() {
        let code = HuffmanCode(frequencies: [0, 7, 0])
        #expect(code.lengths == [0, 1, 0])
    }
}
