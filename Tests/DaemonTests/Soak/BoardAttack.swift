import StrokeWire
import TestSupport

/// Attacks by what a board has beside strokes: pointers, pens, texts, pages with their papers, images and lassos, removals, and
/// strokes being drawn.
extension HostileGenerator {
    /// Pointers of any length, whose points have absurd times.
    mutating func pointers() -> [HostileMessage] {
        count(
            (0..<60).map { _ in
                let times = ["0", "-1", "1e15", "-1e15", "5e-324", "\(random.int(0...600_000))"]
                let points = (0..<random.pick([1, 2, 60, 1500])).map {
                    #"{"x":\#(random.int(-65_536...65_536)),"y":\#($0),"m":\#(random.pick(times))}"#
                }
                return #""e":7,"c":\#(random.int(0...16)),"d":[\#(points.joined(separator: ","))]"#
            })
    }

    /// Highlighters and arrows that cross themselves, do not move, or are wider than the board.
    mutating func pens() -> [HostileMessage] {
        count(
            (0..<40).map { _ in
                let reach = random.pick([0, 1, 900, 65_536])
                let points = (0..<random.pick([1, 2, 3, 300])).map { _ in
                    #"{"x":\#(random.int(-reach...reach)),"y":\#(random.int(-reach...reach))}"#
                }
                let width = random.pick(["5e-324", "0.5", "24", "512"])
                return #""e":\#(random.int(9...10)),"l":\#(width),"d":[\#(points.joined(separator: ","))]"#
            })
    }

    /// Texts of any characters in boxes of any shape; many are to be refused.
    mutating func texts() -> [HostileMessage] {
        count(
            (0..<40).map { _ in
                let text = random.text(bytes: random.pick([1, 30, 400, 2000, 2001, 20_000]), mayBeRefused: true)
                let corners = (0..<random.pick([1, 2, 2, 2, 3])).map { _ in
                    #"{"x":\#(random.pick([0, 1, 700, 65_536])),"y":\#(random.pick([0, 1, 400, -65_536]))}"#
                }
                let height = random.pick(["3.9", "4", "24", "512"])
                return
                    #""e":8,"l":\#(height),"x":\#(Self.quoted(text)),"d":[\#(corners.joined(separator: ","))]"#
            })
    }

    /// Pages that are turned to and arranged, with papers, slides and images that are not there, and lassos.
    mutating func pages() -> [HostileMessage] {
        count(
            (0..<80).map { _ in
                let page = #""g":\#(random.int(0...1001))"#
                let corners = #""d":[{"x":0,"y":0},{"x":\#(random.int(0...900)),"y":\#(random.int(0...700))}]"#
                let asset = String(repeating: "\(random.int(0...9))a", count: random.pick([31, 32, 32, 32]))
                let order = (0..<random.pick([1, 9, 1000])).map { "\($0 * random.pick([1, 1, 2]))" }
                let members = [
                    #""a":5,\#(page)"#, #""a":6,"v":[\#(order.joined(separator: ","))]"#,
                    #""a":7,"p":\#(random.int(0...6)),"l":\#(random.int(7...257)),\#(page)"#,
                    #""a":7,"i":"\#(asset)","p":\#(random.int(0...501)),"k":\#(random.int(0...4)),\#(corners),\#(page)"#,
                    #""e":5,"i":"\#(asset)","p":\#(random.int(0...501)),\#(corners),\#(page)"#,
                    lasso(of: random.pick([1, 2, 3, 40, 1024])),
                ]
                return random.pick(members)
            })
    }

    /// Removals of what is there, is not there any more and never was, with undo and redo between them.
    mutating func removals() -> [HostileMessage] {
        count(
            (0..<100).map { _ in
                let indices = (0..<random.pick([0, 1, 5, 256, 257])).map { place in
                    random.chance(1, in: 9) ? "9007199254740991" : "\(place + random.int(1...300))"
                }
                let members = [
                    #""a":8,"v":[\#(indices.joined(separator: ","))]"#, #""a":\#(random.int(2...3))"#,
                    #""d":[{"x":1,"y":1},{"x":\#(random.int(0..<999)),"y":7}]"#, lasso(of: 4),
                    #""e":8,"l":24,"x":"a","d":[{"x":1,"y":1},{"x":300,"y":40}]"#,
                ]
                return random.pick(members)
            })
    }

    private mutating func lasso(of points: Int) -> String {
        let path = (0..<points).map { _ in #"{"x":\#(random.int(0...1000)),"y":\#(random.int(0...700))}"# }
        let map = random.pick(["[1,0,0,1,9,9]", "[0,0,0,0,0,0]", "[16384,0,0,-16384,0,1]", "[1e-300,1,1,1e-300,0,0]"])
        return #""e":6,"m":\#(map),"k":\#(random.int(0...1)),"d":[\#(path.joined(separator: ","))]"#
    }

    /// Updates of strokes and pointers being drawn, in any order; no operation follows.
    mutating func wet() -> [HostileMessage] {
        let (input, headers) = author()
        let subject = input.replacing(".in.", with: ".wet-in.")
        return (0..<100).map { _ in
            let point = #"{"x":1,"y":\#(random.int(0...700)),"m":\#(random.int(-5...60_000))}"#
            let points = Self.list(point, random.pick([0, 1, 40, 1000]))
            let (first, time) = (random.pick(["0", "0", "1", "500", "1e15"]), random.pick(["0", "30000", "1e15"]))
            let more = random.pick(["", #","p":[\#(points)]"#, #","x":true"#, #","g":\#(random.int(0...1000))"#])
            let stroke = #""n":\#(random.int(0...6)),"e":\#(random.int(0...11)),"l":3,"t":\#(time)"#
            let update = #""u":\#(random.int(0...900)),"k":\#(first),"d":[\#(points)]\#(more)"#
            return HostileMessage(subject: subject, payload: "{\(stroke),\(update)}", headers: headers)
        }
    }

    /// The limits of what a board has beside strokes.
    /// - Parameter more: 0 for the limits, 1 for one beyond each.
    mutating func boardLimits(beyond more: Int) -> [HostileMessage] {
        let corners = #""d":[{"x":0,"y":0},{"x":400,"y":300}]"#
        let asset = String(repeating: "ab", count: 32) + String(repeating: "c", count: more)
        func numbers(_ count: Int) -> String { (0..<count).map { "\($0 + 1)" }.joined(separator: ",") }
        let text = String(repeating: "W", count: 2000 + more)
        let path = Self.list(#"{"x":1,"y":1}"#, 1024 + more)
        let bound = 16_384 + more
        return count([
            #""e":8,"l":24,"x":"\#(text)",\#(corners)"#, #""e":8,"l":\#(4 - more),"x":"a",\#(corners)"#,
            #""e":5,"i":"\#(asset)",\#(corners)"#,
            #""e":5,"i":"\#(asset.prefix(64))","p":\#(499 + more),\#(corners)"#,
            #""e":6,"k":\#(1 + more),"d":[{"x":1,"y":1}]"#, #""e":6,"m":[\#(bound),0,0,1,0,\#(-bound)],\#(corners)"#,
            #""e":6,"d":[\#(path)]"#, #""a":5,"g":\#(999 + more)"#, #""a":6,"v":[\#(numbers(999 + more))]"#,
            #""a":7,"p":\#(4 + more)"#, #""a":7,"p":1,"l":\#(256 + more)"#, #""a":7,"p":1,"l":\#(8 - more)"#,
            #""a":8,"v":[\#(numbers(256 + more))]"#, #""a":\#(8 + more)"#,
        ])
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.append(string: text)
        return String(decoding: bytes, as: UTF8.self)
    }
}
