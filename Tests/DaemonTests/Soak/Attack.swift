import NATSClient
import TestSupport

/// A kind of valid but extreme messages.
enum Attack: String, CaseIterable, Sendable {
    case widePoints = "wide-points"
    case shapes
    case deepNesting = "deep-nesting"
    case longStrings = "long-strings"
    case hugeNumbers = "huge-numbers"
    case missingShard = "missing-shard"
    case shardConflicts = "shard-conflicts"
    case limits
    case faultyPoints = "faulty-points"
    case tooLarge = "too-large"
    case authors
    case rooms
    case garbageRooms = "garbage-rooms"
    case sessions
    case gaps
    case commands
    case dots
    case heldInk = "held-ink"
    case joins
    case pictures
    case clocks
    case listings
    case closing
    case pointers
    case pens
    case texts
    case pages
    case removals
    case wet
}

/// A message of an attack.
struct HostileMessage: Sendable {
    var subject: String
    var payload: String
    var reply: String?
    var headers: NATSHeaders = [:]
}

/// Generates the messages of attacks, reproducible by seed.
struct HostileGenerator: Sendable {
    var random: SeededGenerator
    /// Counter for unused names and numbers.
    private var count = 0

    /// The rooms that attacks write to.
    static let rooms = (0..<12).map { "hostile-\($0)" }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Some messages that belong together.
    mutating func messages(of attack: Attack) -> [HostileMessage] {
        switch attack {
        case .widePoints: widePoints()
        case .shapes: shapes()
        case .deepNesting: deepNesting()
        case .longStrings: longStrings()
        case .hugeNumbers: hugeNumbers()
        case .missingShard: missingShard()
        case .shardConflicts: shardConflicts()
        case .limits: limits()
        case .faultyPoints: single(#""d":[{}"# + String(repeating: ",{}", count: 87_000) + "]")
        case .tooLarge: single(#""d":[],"u":""# + String(repeating: "u", count: 2_800_000) + #"""#)
        case .authors: authors()
        case .rooms: newRooms { #"{"n":\#($0),"t":0,"d":[{"x":1,"y":1}]}"# }
        case .garbageRooms: newRooms { $0 % 2 == 0 ? "{}" : "\u{1}\u{2}nothing" }
        case .sessions: sessions()
        case .gaps: gaps()
        case .commands: commands()
        case .dots: dots()
        case .heldInk: heldInk()
        case .joins: joins()
        case .pictures: pictures()
        case .clocks: clocks()
        case .listings: listings()
        case .closing: [HostileMessage(subject: "\(room()).ctl", payload: #"{"v":1,"kind":"close"}"#)]
        case .pointers: pointers()
        case .pens: pens()
        case .texts: texts()
        case .pages: pages()
        case .removals: removals()
        case .wet: wet()
        }
    }
}

extension HostileGenerator {
    private mutating func next() -> Int {
        count += 1
        return count
    }

    private mutating func room() -> String { "ink.0.\(random.pick(Self.rooms))" }

    /// An author's subject, and the header of a session that begins with this message.
    mutating func author() -> (subject: String, headers: NATSHeaders) {
        let name = "author-\(random.int(0..<SoakPlan.authors))"
        return ("\(room()).in.\(name)", ["Ink-Session": "session-\(next())"])
    }

    private mutating func inbox() -> String { "_INBOX.hostile.\(next())" }

    /// Messages of one author, numbered from 1, with some members each.
    mutating func count(_ members: [String]) -> [HostileMessage] {
        let (subject, headers) = author()
        return members.enumerated().map { number, members in
            HostileMessage(subject: subject, payload: #"{"n":\#(number + 1),"t":0,\#(members)}"#, headers: headers)
        }
    }

    mutating func single(_ members: String) -> [HostileMessage] { count([members]) }

    /// One stroke cut into shards with these texts between the brackets of their points.
    private mutating func stroke(_ points: [String], of shards: Int? = nil) -> [HostileMessage] {
        let (subject, headers) = author()
        return points.enumerated().map { order, points in
            HostileMessage(
                subject: subject,
                payload: #"{"n":1,"t":0,"s":\#(shards ?? points.count),"o":\#(order),"d":[\#(points)]}"#,
                headers: headers)
        }
    }

    static func list(_ item: String, _ count: Int) -> String {
        count == 0 ? "" : item + String(repeating: "," + item, count: count - 1)
    }
}

extension HostileGenerator {
    /// Strokes whose first point has very many numbers, before many plain points.
    private mutating func widePoints() -> [HostileMessage] {
        let plain = Self.list(#"{"x":1,"y":1}"#, random.int(10_000...16_600))
        let wide: String
        switch random.int(0..<3) {
        case 0: wide = #"{"x":1,"y":1,"u":[\#(Self.list("1", random.int(1000...125_000)))]}"#
        case 1: wide = #"{"x":1,"y":1,"u":[\#(Self.list("12345.678", 25_000))]}"#
        default:
            let keys = (0..<random.int(100...12_000)).map { #""k\#($0)":\#($0)"# }
            wide = #"{"x":1,"y":1,\#(keys.joined(separator: ","))}"#
        }
        guard random.chance(3, in: 4) else { return single(#""d":[\#(wide)]"#) }
        return stroke([wide] + Array(repeating: plain, count: 6))
    }

    /// Messages that all differ in their JSON template.
    private mutating func shapes() -> [HostileMessage] {
        var members: [String] = []
        for _ in 0..<20 {
            let keys = (0..<random.int(0...8)).map { _ in #""k\#(random.int(0..<100_000))":\#(random.int(0..<10))"# }
            let own = keys.map { $0 + "," }.joined()
            let blank = String(repeating: " ", count: random.int(0...3))
            members.append(#"\#(own)"d":\#(blank)[{\#(own)"x":1,"y":\#(random.int(0..<700))},{\#(own)"x":2.5,"y":2}]"#)
        }
        // Also one with a long list of keys that all its points share.
        let long = (0..<2000).map { #""k\#(next())_\#($0)":1"# }.joined(separator: ",")
        members.append(#""d":[\#(Self.list(#"{"x":1,"y":1,\#(long)}"#, 4))]"#)
        return count(members)
    }

    private mutating func deepNesting() -> [HostileMessage] {
        // The object is level 1; 8 are allowed.
        let depths = [6, 7, 8, 9, 1000, 100_000]
        return count(
            depths.flatMap { depth in
                let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                return [#""u":\#(deep),"d":[{"x":1,"y":1}]"#, #""d":[{"x":1,"y":1,"u":\#(deep)}]"#]
            } + [#""u":[\#(Self.list("[[[[[]]]]]", 20_000))],"d":[{"x":1,"y":1}]"#])
    }

    private mutating func longStrings() -> [HostileMessage] {
        let texts = [
            String(repeating: "u", count: 250_000), String(repeating: #"\""#, count: 120_000),
            String(repeating: #"\u00e9"#, count: 40_000), String(repeating: "é", count: 120_000),
            String(repeating: #"\ud83d\ude00"#, count: 20_000), String(repeating: #"\ud800"#, count: 40_000),
        ]
        let text = random.pick(texts)
        return count([
            #""u":"\#(text)","d":[{"x":1,"y":1}]"#, #""d":[{"x":1,"u":"\#(text)","y":1},{"x":2,"y":2}]"#,
            #""\#(text)":1,"d":[{"x":1,"y":1}]"#,
        ])
    }

    private mutating func hugeNumbers() -> [HostileMessage] {
        let digits = String(repeating: "9", count: random.int(20...20_000))
        let numbers = [
            "1e-170", "65536", "-65536", "65536.0000001", "1e999", "-1e999", "1e-999", "-0", "0.\(digits)",
            "\(digits)e-\(digits.count)", "1e\(digits)", "1e-\(digits)", "1E+2", "5e-324", "1.7976931348623157e308",
        ]
        var members: [String] = []
        for _ in 0..<12 {
            let points = (0..<4).map { _ in
                #"{"x":\#(random.pick(numbers)),"y":\#(random.pick(numbers)),"f":\#(random.pick(numbers))}"#
            }
            let more = [
                #""l":512"#, #""l":512.0000001"#, #""l":5e-324"#, #""w":16384,"h":1"#, #""w":1,"h":16384"#,
                #""w":16385"#, #""t":9223372036854775807"#, #""t":-9223372036854775808"#, #""t":1e15"#,
                #""n":9007199254740991"#, #""e":\#(random.pick(numbers))"#, #""c":\#(random.pick(numbers))"#,
            ]
            members.append(#"\#(random.pick(more)),"d":[\#(points.joined(separator: ","))]"#)
        }
        return count(members)
    }

    private mutating func missingShard() -> [HostileMessage] {
        let points = Self.list(#"{"x":1,"y":1}"#, random.int(1...40))
        let lacking = random.int(0..<1024)
        var messages = stroke(Array(repeating: points, count: 1024), of: 1024)
        messages.remove(at: lacking)
        return messages
    }

    private mutating func shardConflicts() -> [HostileMessage] {
        let (subject, headers) = author()
        return (0..<60).map { _ in
            let members = [
                #""s":\#(random.int(2...5)),"o":\#(random.int(0...5)),"e":\#(random.int(0...10))"#,
                #""s":4,"o":\#(random.int(0...4)),"a":\#(random.int(0...8)),"g":\#(random.int(0...1))"#,
            ]
            return HostileMessage(
                subject: subject,
                payload:
                    #"{"n":\#(random.int(1...4)),"t":0,\#(random.pick(members)),"d":[{"x":\#(random.int(0...3)),"y":1}]}"#,
                headers: headers)
        }
    }

    /// Every limit, and one beyond.
    private mutating func limits() -> [HostileMessage] {
        var messages: [HostileMessage] = []
        for more in 0...1 {
            let points = 100_000 + more
            let shares = (0..<8).map { points * ($0 + 1) / 8 - points * $0 / 8 }
            messages += stroke(shares.map { Self.list(#"{"x":1,"y":1}"#, $0) })
            let head = #"{"n":1,"t":0,"d":[{"x":1,"y":1}],"u":""#
            let (subject, headers) = author()
            messages.append(
                HostileMessage(
                    subject: subject,
                    payload: head + String(repeating: "u", count: 262_144 + more - head.utf8.count - 2) + #""}"#,
                    headers: headers))
            for members in [
                #""s":\#(1024 + more),"o":0"#, #""s":2,"o":\#(2 + more)"#, #""l":\#(512 + more)"#,
                #""w":\#(16_384 + more)"#, #""c":\#(15 + more)"#, #""e":\#(10 + more)"#, #""g":\#(999 + more)"#,
            ] {
                messages += single(#"\#(members),"d":[{"x":1,"y":1}]"#)
            }
            messages += single(#""d":[{"x":\#(65_536 + more),"y":1}]"#)
            messages += boardLimits(beyond: more)
            let (ahead, count) = author()
            messages.append(HostileMessage(subject: ahead, payload: #"{"n":1,"d":[{"x":1,"y":1}]}"#, headers: count))
            messages.append(
                HostileMessage(
                    subject: ahead, payload: #"{"n":\#(100_002 + more),"d":[{"x":1,"y":1}]}"#, headers: count))
        }
        return messages
    }
}

extension HostileGenerator {
    private mutating func authors() -> [HostileMessage] {
        let room = room()
        return (0..<100).map { _ in
            HostileMessage(subject: "\(room).in.one-of-many-\(next())", payload: #"{"n":1,"t":0,"d":[{"x":1,"y":1}]}"#)
        }
    }

    private mutating func newRooms(_ payload: (Int) -> String) -> [HostileMessage] {
        (0..<100).map { _ in
            let number = next()
            return HostileMessage(subject: "ink.0.one-of-many-\(number).in.author", payload: payload(number))
        }
    }

    private mutating func sessions() -> [HostileMessage] {
        let subject = author().subject
        return (0..<100).map { _ in
            HostileMessage(
                subject: subject, payload: #"{"n":\#(random.int(1...3)),"t":0,"d":[{"x":1,"y":1}]}"#,
                headers: ["Ink-Session": "session-\(next())"])
        }
    }

    private mutating func gaps() -> [HostileMessage] {
        let (subject, headers) = author()
        let step = random.int(2...300)
        return (1...300).map {
            HostileMessage(
                subject: subject, payload: #"{"n":\#($0 * step),"t":0,"d":[{"x":1,"y":1}]}"#, headers: headers)
        }
    }

    private mutating func commands() -> [HostileMessage] {
        count(
            (0..<100).map { _ in
                random.chance(1, in: 3)
                    ? #""d":[{"x":1,"y":1},{"x":\#(random.int(0..<999)),"y":7}]"# : #""a":\#(random.int(2...8))"#
            })
    }

    private mutating func dots() -> [HostileMessage] {
        count((0..<200).map { _ in #""d":[{"x":\#(random.int(0..<999)),"y":\#(random.int(0..<999))}]"# })
    }

    /// Strokes ahead of a video that stands still.
    private mutating func heldInk() -> [HostileMessage] {
        let room = room()
        let points = Self.list(#"{"x":1,"y":1}"#, random.int(10...10_000))
        let clock = HostileMessage(subject: "\(room).clock.main", payload: #"{"m":1000,"s":"pause","d":true}"#)
        let headers: NATSHeaders = ["Ink-Session": "session-\(next())"]
        return [clock]
            + (1...20).map {
                HostileMessage(
                    subject: "\(room).in.author-0", payload: #"{"n":\#($0),"t":30000,"d":[\#(points)]}"#,
                    headers: headers)
            }
    }
}

extension HostileGenerator {
    private mutating func joins() -> [HostileMessage] {
        (0..<100).map { _ in
            let payloads = [
                "{}", #"{"room":"none","have":3}"#, #"{"have":\#(UInt64.max)}"#, "", "[[",
                #"{"u":"\#(String(repeating: "u", count: random.int(0...20_000)))"}"#,
            ]
            let cohort = random.chance(9, in: 10) ? "main" : "cohort-\(random.int(0..<30))"
            let room = random.chance(9, in: 10) ? room() : "ink.0.nobody-\(next())"
            return HostileMessage(subject: "\(room).join.\(cohort)", payload: random.pick(payloads), reply: inbox())
        }
    }

    private mutating func pictures() -> [HostileMessage] {
        (0..<50).map { _ in
            let payloads = [#"{"width":\#(random.int(1...4096))}"#, "", #"{"width":0}"#, #"{"width":1e9}"#]
            return HostileMessage(subject: "\(room()).image.main", payload: random.pick(payloads), reply: inbox())
        }
    }

    private mutating func clocks() -> [HostileMessage] {
        (0..<100).map { _ in
            let room = random.chance(1, in: 2) ? room() : "ink.0.clock-\(next() % 5000)"
            let cohort = random.chance(1, in: 2) ? "main" : "cohort-\(random.int(0..<20))"
            let members = [
                #""m":\#(random.int(0...1_000_000))"#,
                #""m":\#(random.int(0...100_000)),"ep":\#(random.int(0..<1000))"#,
                #""m":1e15,"d":true"#, #""m":-1e18,"d":true"#, #""m":1e999"#, #""m":5,"r":2000,"b":32"#,
                #""m":4294967295,"b":32"#, #""m":7,"s":"end""#, #""m":7,"s":"pause","q":\#(random.int(0..<9))"#,
                #""m":7,"st":"\#(String(repeating: "s", count: random.int(0...5000)))""#, #""q":1"#,
                #""m":1,"ep":9007199254740991"#,
            ]
            return HostileMessage(subject: "\(room).clock.\(cohort)", payload: "{\(random.pick(members))}")
        }
    }

    private mutating func listings() -> [HostileMessage] {
        (0..<50).map { _ in
            let subject = random.chance(1, in: 2) ? "ink.rooms" : "\(room()).info"
            return HostileMessage(subject: subject, payload: "", reply: inbox())
        }
    }
}
