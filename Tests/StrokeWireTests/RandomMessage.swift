import StrokeWire
import TestSupport

struct RandomMessage {
    /// A text, valid or nearly so.
    let text: String

    /// A message as our clients spell it: keys in their order, some left out; numbers in their shortest form.
    static func usual(_ random: inout SeededGenerator) -> RandomMessage {
        let action = random.chance(1, in: 8) ? random.int(2...8) : 1
        var members = [#""n":\#(random.int(0...random.pick([9, 5000, 1 << 40])))"#]
        func add(_ key: String, _ value: String) {
            if random.chance(4, in: 5) { members.append(#""\#(key)":\#(value)"#) }
        }
        add("c", "\(random.int(0...7))")
        add("l", decimal(&random, 0.5...60, decimals: random.int(0...2)))
        add("s", "\(random.int(0...3))")
        add("o", "0")
        add("e", "\(random.chance(1, in: 3) ? random.int(5...10) : random.int(0...4))")
        if action > 1 { members.append(#""a":\#(action)"#) } else { add("a", "\(random.int(0...1))") }
        add("t", "\(random.int(-9...10_000_000))")
        add("w", random.pick(["1024", "1366.5", "800"]))
        add("h", random.pick(["768", "1024", "600.25"]))
        if action == 1 { members.append(#""d":[\#(points(&random, count: random.int(1...60)))]"#) }
        return RandomMessage(text: "{\(members.joined(separator: ","))}")
    }

    /// A message that may be spelt or filled in any way: other orders, spaces, keys and numbers, some of them wrong.
    static func any(_ random: inout SeededGenerator) -> RandomMessage {
        var text = usual(&random).text
        for _ in 0..<random.int(0...3) {
            let (old, new) = random.pick([
                (",", " , "), (#""c":"#, #""k":[7,{"c":0.5}],"c":"#), (#""n":"#, #""n":1e1,"n":"#),
                (#","y":"#, #","q":3.25,"y":"#), (#""l":"#, #""l":-"#), (#"{"x":"#, #"{"x":-0,"x":"#),
                ("}]", "},{}]"), (#""e":"#, #""e":77"#), (#""t":"#, #""t":0.125,"t":"#),
                (#"{"n":"#, #"{"t":12.75,"n":"#), ("]}", "]} \n"), (#"{"x":"#, #"{"x":70000,"x":"#),
                (#""d":["#, #""d":[],"d":["#), (#""w":"#, #""w":0.12345678901234567,"w":"#),
                (#""h":"#, #""text":"a \" 5","h":"#), (#""h":1024"#, #""h":99999"#), ("0,", "0.0,"), (".5", ".50"),
            ])
            text = text.replacing(old, with: new, maxReplacements: random.chance(1, in: 2) ? 1 : .max)
        }
        return RandomMessage(text: text)
    }

    /// A walk, of strokes with a pen or without.
    private static func points(_ random: inout SeededGenerator, count: Int) -> String {
        let decimals = random.pick([0, 1, 1, 1, 2, 6])
        let pen = random.chance(1, in: 3) ? ["f", "i", "z", "m"].filter { _ in random.chance(3, in: 4) } : []
        var place = (x: random.int(0...10_000), y: random.int(0...7000))
        return (0..<count).map { number in
            place.x += random.int(-60...60)
            place.y += random.int(-60...60)
            let x = decimal(&random, Double(place.x) / 10...Double(place.x) / 10 + 0.1, decimals: decimals)
            let y = decimal(&random, Double(place.y) / 10...Double(place.y) / 10 + 0.1, decimals: decimals)
            let more = pen.map { key in
                let value = key == "m" ? "\(number * 4)" : decimal(&random, -0.1...1.6, decimals: 3)
                return #","\#(key)":\#(value)"#
            }
            return #"{"x":\#(x),"y":\#(y)\#(more.joined())}"#
        }.joined(separator: ",")
    }

    /// A number of at most so many decimals, in its shortest form.
    private static func decimal(_ random: inout SeededGenerator, _ range: ClosedRange<Double>, decimals: Int) -> String
    {
        let scale = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
        let value = (Double.random(in: range, using: &random) * scale).rounded() / scale
        return value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}
