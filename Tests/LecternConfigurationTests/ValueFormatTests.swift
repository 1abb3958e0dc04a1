import StrokeWire
import TestSupport
import Testing

@testable import LecternConfiguration

@Suite("Value formats") struct ValueFormatTests {
    @Test(
        "Sizes",
        arguments: [
            ("0", 0), ("1", 1), ("65536", 65_536), ("1KiB", 1024), ("256KiB", 262_144), ("1MiB", 1 << 20),
            ("2GiB", 2 << 30),
            ("007KiB", 7168),
        ])
    func sizes(text: String, bytes: Int) {
        #expect(UnitFormat.sizes.amount(text) == bytes)
    }

    @Test(
        "What is no size",
        arguments: [
            "", "KiB", "1 KiB", " 1", "1kib", "1KB", "1K", "1.5MiB", "-1", "+1", "1e3", "9223372036854775808",
            "9007199254740992KiB", "9223372036854775807GiB", "١KiB", "1MiB1KiB",
        ])
    func noSizes(text: String) {
        #expect(UnitFormat.sizes.amount(text) == nil)
    }

    @Test(
        "Durations",
        arguments: [
            ("0s", 0), ("250ms", 250), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000), ("30d", 2_592_000_000),
        ])
    func durations(text: String, milliseconds: Int) {
        #expect(UnitFormat.durations.amount(text) == milliseconds)
    }

    @Test(
        "What is no duration",
        arguments: ["", "0", "30", "s", "1.5s", "-1s", "1D", "1w", "1 d", "1 s", "1S", "1m30s", "9223372036854775807s"])
    func noDurations(text: String) {
        #expect(UnitFormat.durations.amount(text) == nil)
    }

    @Test(
        "An amount is written so that it reads back, in the largest unit", arguments: [UnitFormat.sizes, .durations])
    func roundTrip(format: UnitFormat) {
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

    @Test(
        "Listen addresses",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65_535),
            ("[fe80::1%eth0]:80", "fe80::1%eth0", 80), ("my-host.example:1", "my-host.example", 1),
        ])
    func listenAddresses(text: String, host: String, port: Int) {
        let address = ListenAddress(text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address?.description == text)
    }

    @Test(
        "What is no listen address",
        arguments: [
            "", "8080", ":8080", "host", "host:", "host:-1", "host:65536", "host:080808", "host:80x", "::1:8080",
            "[]:80",
            "[localhost]:80", "[::1]", "ho st:80", "http://host:80", "host/path:80", "[::1:80",
        ])
    func noListenAddresses(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(
        "NATS addresses",
        arguments: [
            "nats://127.0.0.1:4222", "nats://nats", "tls://a.example:443", "nats://a:1,nats://b:2", "nats://[::1]:4222",
            "nats://user:p@ss@host:4222", "nats://token@host",
        ])
    func natsAddresses(text: String) {
        #expect(NATSAddress(text) == .servers(text))
    }

    @Test(
        "What is no NATS address",
        arguments: [
            "", "host:4222", "http://host", "nats://", "nats://:4222", "nats://a,", "nats://a, nats://b", "NATS://a",
            "nats://a:x", "nats://a/path", "nats://user@", "nats://a,tls://b",
        ])
    func noNATSAddresses(text: String) {
        #expect(NATSAddress(text) == nil)
    }

    @Test("The embedded server has a word of its own")
    func embedded() {
        #expect(NATSAddress("embedded") == .embedded)
        #expect(NATSAddress.embedded.description == "embedded")
    }

    @Test("A NATS address is shown without user and password")
    func secrets() {
        let address = NATSAddress.servers("nats://me:s3cret@a:1,tls://b:2,nats://t0ken@c")
        #expect(address.description == "nats://***@a:1,tls://b:2,nats://***@c")
    }
}

@Suite("Spelling") struct SpellingTests {
    @Test(
        "Distance",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1),
            ("kitten", "sitting", 3), ("ca", "abc", 3),
        ])
    func distance(a: String, b: String, edits: Int) {
        #expect(Spelling.distance(Array(a.utf8), Array(b.utf8)) == edits)
        #expect(Spelling.distance(Array(b.utf8), Array(a.utf8)) == edits)
    }

    @Test("The nearest is found, and nothing where all are far")
    func nearest() {
        let words = ["none", "video", "hold"]
        #expect(Spelling.nearest(to: "vidoe", among: words) == "video")
        #expect(Spelling.nearest(to: "nome", among: words) == "none")
        #expect(Spelling.nearest(to: "blackboard", among: words) == nil)
        #expect(Spelling.nearest(to: "x", among: ["ab"]) == nil)
        #expect(Spelling.nearest(to: "video", among: []) == nil)
        #expect(Spelling.nearest(to: String(repeating: "v", count: 100_000), among: words) == nil)
    }

    @Test("A key with one wrong letter is found again", arguments: DaemonConfiguration.keys)
    func everyKey(key: String) {
        for index in key.indices {
            var wrong = key
            wrong.replaceSubrange(index...index, with: "~")
            #expect(SettingKeys.all.suggestion(for: wrong) == key)
        }
    }
}
