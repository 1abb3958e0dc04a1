import Foundation
import StrokeWire
import TestSupport
import Testing

@Suite struct `The direction of a text` {
    /// The code points that the teacher's page lists under a name, for a class of a regular expression.
    private static func listed(_ name: String, in script: String) -> Set<UInt32> {
        guard let start = script.range(of: "const \(name) = ") else { return [] }
        let list = script[start.upperBound...].prefix { $0 != ";" }
        func value(_ code: Substring) -> UInt32 { UInt32(code.filter(\.isHexDigit), radix: 16) ?? 0 }
        let code = /\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\})/
        let ends = list.matches(of: code)
        var points: Set<UInt32> = []
        for (place, end) in ends.enumerated() {
            let low = value(end.output)
            let isRange = list[end.range.upperBound...].hasPrefix("-") && place + 1 < ends.count
            points.formUnion(low...(isRange ? value(ends[place + 1].output) : low))
        }
        return points
    }

    @Test func `is the same on the teacher's page as in pictures, whatever it begins with`() throws {
        let path = PackageRoot.path(to: "Sources/Site/lectern/text-tool.js")
        let script = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        let undirected = Self.listed("undirected", in: script)
        let fromTheRight = Self.listed("fromTheRight", in: script)
        // All others are letters from left to right, or will be.
        let signs = [0...0x1FFFF, 0xE0000...0xE01EF].joined().compactMap { Unicode.Scalar(UInt32($0)) }
        let different = signs.filter { sign in
            let isUndirected = undirected.contains(sign.value)
            let isFromTheRight = !isUndirected && fromTheRight.contains(sign.value)
            return BoardText.isRightToLeft("\(sign)a") != isFromTheRight
                || BoardText.isRightToLeft("\(sign)ש") != (isUndirected || isFromTheRight)
        }
        #expect(different.isEmpty)
    }
}
