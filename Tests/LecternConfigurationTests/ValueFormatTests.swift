import StrokeWire
import TestSupport
import Testing

@testable import LecternConfiguration

@Suite struct `Value formats` {
    @Test(arguments: [
        ("0", 0), ("1", 1), ("65536", 65_536), ("1KiB", 1024), ("256KiB", 262_144), ("1MiB", 1 << 20),
        ("2GiB", 2 << 30), ("007KiB", 7168),
    ]) func `Sizes`(text: String, bytes: Int) {
        #expect(UnitFormat.sizes.amount(text) == bytes)
    }

    @Test(arguments: [
        "", "KiB", "1 KiB", " 1", "1kib", "1KB", "1K", "1.5MiB", "-1", "+1", "1e3", "9223372036854775808",
        "9007199254740992KiB", "9223372036854775807GiB", "١KiB", "1MiB1KiB",
    ]) func `A malformed size is refused`(text: String) {
        #expect(UnitFormat.sizes.amount(text) == nil)
    }

    @Test(arguments: [
        ("0s", 0), ("250ms", 250), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000), ("30d", 2_592_000_000),
    ]) func `Durations`(text: String, milliseconds: Int) {
        #expect(UnitFormat.durations.amount(text) == milliseconds)
    }

    @Test(arguments: [
        "", "0", "30", "s", "1.5s", "-1s", "1D", "1w", "1 d", "1 s", "1S", "1m30s", "9223372036854775807s",
    ])
    func `A malformed duration is refused`(text: String) {
        #expect(UnitFormat.durations.amount(text) == nil)
    }

    @Test(arguments: [UnitFormat.sizes, .durations])
    func `An amount is written so that it reads back, in the largest unit`(format: UnitFormat) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<2000 {
            let factor = format.units.randomElement(using: &random)?.factor ?? 1
            let amount = Int.random(in: 0...4000, using: &random) * factor
            let text = format.text(amount)
            #expect(format.amount(text) == amount)
            let shorter = format.units.map { "\(amount / $0.factor)\($0.suffix)" }.filter {
                format.amount($0) == amount
            }
            #expect(amount == 0 || shorter.last == text)
        }
    }

    @Test(arguments: [("/", "/"), ("/board", "/board/"), ("/a.b/~c_-/", "/a.b/~c_-/")])
    func `Base paths begin and end with a slash`(text: String, path: String) throws {
        #expect(try ValueFormat<String>.basePath.parse(text) == path)
    }

    @Test(arguments: [
        "", "board", "board/", "//", "/a//b", "/../a", "/a/.", "/a b", "/a;b", "/a%20", "/ä", "https://host/board/",
        "/" + String(repeating: "a", count: 255),
    ]) func `A malformed base path is refused`(text: String) {
        #expect(throws: ParseError.self) { try ValueFormat<String>.basePath.parse(text) }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65_535),
        ("[fe80::1%eth0]:80", "fe80::1%eth0", 80), ("my-host.example:1", "my-host.example", 1),
    ]) func `Listen addresses`(text: String, host: String, port: Int) {
        let address = ListenAddress(text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address?.description == text)
    }

    @Test(arguments: [
        "", "8080", ":8080", "host", "host:", "host:-1", "host:65536", "host:080808", "host:80x", "::1:8080", "[]:80",
        "[localhost]:80", "[::1]", "ho st:80", "http://host:80", "host/path:80", "[::1:80",
    ]) func `A malformed listen address is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        "nats://127.0.0.1:4222", "nats://nats", "tls://a.example:443", "nats://a:1,nats://b:2", "nats://[::1]:4222",
        "nats://user:p@ss@host:4222", "nats://token@host",
    ]) func `NATS addresses`(text: String) {
        #expect(NATSAddress(text) == .servers(text))
    }

    @Test(arguments: [
        "", "host:4222", "http://host", "nats://", "nats://:4222", "nats://a,", "nats://a, nats://b", "NATS://a",
        "nats://a:x", "nats://a/path", "nats://user@", "nats://a,tls://b",
    ]) func `A malformed NATS address is refused`(text: String) {
        #expect(NATSAddress(text) == nil)
    }

    @Test func `The embedded server has a word of its own`() {
        #expect(NATSAddress("embedded") == .embedded)
        #expect(NATSAddress.embedded.description == "embedded")
    }

    @Test func `A NATS address is shown without user and password`() {
        let address = NATSAddress.servers("nats://me:s3cret@a:1,tls://b:2,nats://t0ken@c")
        #expect(address.description == "nats://***@a:1,tls://b:2,nats://***@c")
    }
}

@Suite("Spelling") struct SpellingTests {
    @Test(arguments: [
        ("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1),
        ("kitten", "sitting", 3), ("ca", "abc", 3),
    ]) func `Distance`(a: String, b: String, edits: Int) {
        #expect(Spelling.distance(Array(a.utf8), Array(b.utf8)) == edits)
        #expect(Spelling.distance(Array(b.utf8), Array(a.utf8)) == edits)
    }

    @Test func `The nearest is found, and nothing where all are far`() {
        let words = ["none", "video", "hold"]
        #expect(Spelling.nearest(to: "vidoe", among: words) == "video")
        #expect(Spelling.nearest(to: "nome", among: words) == "none")
        #expect(Spelling.nearest(to: "blackboard", among: words) == nil)
        #expect(Spelling.nearest(to: "x", among: ["ab"]) == nil)
        #expect(Spelling.nearest(to: "video", among: []) == nil)
        #expect(Spelling.nearest(to: String(repeating: "v", count: 100_000), among: words) == nil)
    }

    @Test(arguments: DaemonConfiguration.keys) func `A key with one wrong letter is found again`(key: String) {
        for index in key.indices {
            var wrong = key
            wrong.replaceSubrange(index...index, with: "~")
            #expect(SettingKeys.all.suggestion(for: wrong) == key)
        }
    }
}

@Suite struct `Bad values` {
    @Test(
        "A bad value is refused with its origin, itself and what would be right",
        arguments: [
            ("limits.shards", "many", #""many" is not a whole number (1 … 16384)"#),
            ("limits.shards", "1.5", #""1.5" is not a whole number (1 … 16384)"#),
            ("limits.shards", "0x10", #""0x10" is not a whole number (1 … 16384)"#),
            ("limits.shards", "+5", #""+5" is not a whole number (1 … 16384)"#),
            ("limits.shards", "0", #""0" is out of range (1 … 16384)"#),
            ("limits.shards", "-1", #""-1" is out of range (1 … 16384)"#),
            ("limits.shards", "99999999999999999999", #""99999999999999999999" is out of range (1 … 16384)"#),
            ("limits.shards", "", "\"\" is not a whole number (1 … 16384)"),
            (
                "limits.message_bytes", "256kb",
                #""256kb" is not a size; write 65536, 256KiB, 1MiB or 2GiB (1KiB … 8MiB)"#
            ),
            ("limits.message_bytes", "1023", #""1023" is out of range (1KiB … 8MiB)"#),
            ("limits.message_bytes", "9MiB", #""9MiB" is out of range (1KiB … 8MiB)"#),
            ("limits.author_idle", "600", #""600" is not a duration; write 250ms, 30s, 10m, 2h or 30d (1s … 7d)"#),
            ("limits.author_idle", "999ms", #""999ms" is out of range (1s … 7d)"#),
            ("limits.author_idle", "8760h", #""8760h" is out of range (1s … 7d)"#),
            ("canvas.scale", "0.2", #""0.2" is out of range (0.25 … 8)"#),
            ("canvas.scale", "nan", #""nan" is not a number (0.25 … 8)"#),
            ("canvas.scale", "1e0", #""1e0" is not a number (0.25 … 8)"#),
            ("board.width", "0.5", #""0.5" is out of range (0, or 1 … 16384)"#),
            ("history.scope", "autor", #""autor" is not one of room | author; did you mean author?"#),
            ("history.scope", "Room", #""Room" is not one of room | author; did you mean room?"#),
            ("logging.level", "verbose", #""verbose" is not one of trace | debug | info | notice | warning | error"#),
            ("cohorts.open", "yes", #""yes" is neither true nor false"#),
            ("cohorts.default.policy", "never", #""never" is not one of maxhold | hold | freerun"#),
            ("http.listen", "8080", #""8080" is not an address; write 127.0.0.1:8080, [::1]:8080 or off"#),
            ("http.listen", ":8080", #"":8080" is not an address; write 127.0.0.1:8080, [::1]:8080 or off"#),
            (
                "http.listen", "localhost:65536",
                #""localhost:65536" is not an address; write 127.0.0.1:8080, [::1]:8080 or off"#
            ),
            ("subjects.root", "ink.*", #""ink.*" must be 1 … 64 characters of a-z, 0-9, _ and -"#),
            ("subjects.root", "Ink", #""Ink" must be 1 … 64 characters of a-z, 0-9, _ and -"#),
            ("journal.max_bytes", "1000KiB", #""1000KiB" is out of range (1MiB … 1024GiB), or unlimited"#),
            (
                "journal.max_bytes", "none",
                #""none" is not a size; write 65536, 256KiB, 1MiB or 2GiB (1MiB … 1024GiB), or unlimited"#
            ),
            ("journal.replicas", "6", #""6" is out of range (1 … 5)"#),
            ("node.id", "Node.1", #""Node.1" must be 1 … 64 characters of a-z, 0-9, _ and -"#),
            ("nats.store_dir", "", "\"\" must be the path of a directory"),
            ("nats.server", "", "\"\" must be the path or name of a program"),
            ("palette", "#000000,red", ##""red" must be a colour, written "#rrggbb", in quotes in the file"##),
            ("palette", "", "a palette has 1 … 256 colours, not 0"),
        ])
    func refused(key: String, text: String, message: String) throws {
        #expect(try messages(arguments: [key: text]) == ["argument \(key): \(message)"])
        let variable = "LECTERN_" + key.uppercased().replacing(".", with: "_")
        #expect(try messages(environment: [variable: text]) == ["\(variable): \(message)"])
        guard key != "palette" else { return }
        let file = "# first line\n\(key): \"\(text)\"\n"
        #expect(try messages(file: file) == ["FILE:2: \(key): \(message)"])
    }

    @Test func `A range of IPv4 addresses in the form of IPv6 has the 96 bits before them in its prefix, too`() throws {
        for text in ["10.0.0.0/8", "::ffff:10.0.0.0/104", "::ffff:10.0.0.0/96", "::/0"] {
            #expect(try messages(arguments: ["http.trusted_proxies": text]) == [], "\(text)")
        }
        for text in ["10.0.0.0/33", "::ffff:10.0.0.0/8", "::1/129", "::1/", "::1/1/1", "x"] {
            let message = "\"\(text)\" is none of 10.0.0.1 | 10.0.0.0/8 | ::1, or [] for none"
            #expect(
                try messages(arguments: ["http.trusted_proxies": text]) == ["argument http.trusted_proxies: \(message)"]
            )
        }
    }

    @Test func `A bad NATS address is refused without being shown: there may be a password in it`() throws {
        for text in ["http://me:secret@host", "nats://me:secret@", "nats://me:secret@host:x", "nats://a,secret", ""] {
            let message =
                "argument nats.url: is not a NATS address; write nats://host:port, tls://host:port or embedded"
            #expect(try messages(arguments: ["nats.url": text]) == [message])
        }
    }

    @Test func `A long bad value is shown in part`() throws {
        let message = try #require(try messages(arguments: ["colour": String(repeating: "x", count: 10_000)]).first)
        #expect(message.count < 200)
    }

    @Test
    func `All faults are listed: unknown names by source, then bad values in the order of the reference`() throws {
        let file = """
            limit:
              shards: 3
            limits:
              shards: none
              heldd: 3
            """
        #expect(
            try messages(
                file: file, environment: ["LECTERN_BOARD_WIDTH": "x", "LECTERN_BOARD": "1"],
                arguments: ["chalk": "1", "log.tail": "-1"]) == [
                    "FILE:1: limit: unknown key; did you mean limits?",
                    "FILE:5: limits.heldd: unknown key; did you mean limits.held?", "LECTERN_BOARD: unknown variable",
                    "argument chalk: unknown key", #"LECTERN_BOARD_WIDTH: "x" is not a number (0, or 1 … 16384)"#,
                    #"FILE:4: limits.shards: "none" is not a whole number (1 … 16384)"#,
                    #"argument log.tail: "-1" is out of range (0 … 10000000)"#,
                ])
    }

    @Test(arguments: [
        (["board.width": "800"], "board.width, board.height: give both, or leave both 0"),
        (["board.height": "800"], "board.width, board.height: give both, or leave both 0"),
        (
            ["limits.pending_bytes": "64KiB"],
            "limits.pending_bytes: less than limits.message_bytes: a shard of that size could never be kept"
        ),
        (
            ["limits.bytes_per_second": "131071"],
            "limits.bytes_per_second: less than half of limits.message_bytes: "
                + "a message of that size could never come in"
        ),
        (
            ["limits.message_bytes": "8MiB", "limits.bytes_per_second": "4MiB", "server.mailbox_bytes": "7MiB"],
            "server.mailbox_bytes: less than limits.message_bytes: a message of that size could never come in"
        ),
        (
            ["limits.board_points": "99999"],
            "limits.board_points: less than limits.points: a stroke of that size could never be drawn"
        ),
        (
            ["cohorts.maximum": "2", "cohorts.hls.gate": "none", "cohorts.rtc.gate": "none"],
            "cohorts.maximum: less than the 3 cohorts that are named (main included)"
        ),
    ]) func `Values that do not go together are refused`(arguments: [String: String], message: String) throws {
        #expect(try messages(arguments: arguments) == [message])
    }

    @Test func `Values at the edge of going together are taken`() throws {
        let arguments = [
            "limits.message_bytes": "64KiB", "limits.pending_bytes": "64KiB", "limits.bytes_per_second": "32KiB",
            "limits.points": "9",
            "limits.board_points": "9", "cohorts.maximum": "1", "cohorts.main.gate": "none",
        ]
        #expect(try messages(arguments: arguments) == [])
    }
}
