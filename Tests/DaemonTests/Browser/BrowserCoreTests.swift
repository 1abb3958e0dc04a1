import CoreTrial
import NATSTestServer
import TestSupport
import Testing

/// The core as browsers run it, beside the same code in this process.
@Suite(.serialized, .timeLimit(.minutes(5)), .endsProcesses, .inBrowsers)
struct BrowserCoreTests {
    @Test(
        "whatever a page, a service or another client sends, no call fails in WebAssembly, and each answers as it does natively: boards, digests, pixels, messages",
        arguments: TestSeed.choose(3))
    func hostile(seed: UInt64) async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let port = try await daemon.httpPort()
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(port)/rooms/none/clock")
            var generator = HostileCalls(seed: seed)
            for calls in [
                generator.student(1500), generator.picture(600), generator.teacher(2000), generator.replay(1000),
            ] {
                try await window.expectSame(calls, "seed \(seed)")
            }
            try await window.close()
        }
    }

    @Test func `the protocol's vectors, and lessons in every style, give what they give natively`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(try await daemon.httpPort())/rooms/none/clock")
            try await window.expectSame(try KnownCalls.vectors(), "vectors")
            for lesson in SampleLesson.short {
                for style in KnownCalls.styles {
                    try await window.expectSame(try KnownCalls.lesson(lesson, in: style), "\(lesson), \(style)")
                }
            }
            try await window.close()
        }
    }

    @Test func `a lesson whose indexes have more than 32 bits is played as it is natively`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(try await daemon.httpPort())/rooms/none/clock")
            for bits in [31, 32, 53] as [UInt64] {
                try await window.expectSame(KnownCalls.replay(after: 1 << bits - 2), "\(bits) bits")
            }
            try await window.close()
        }
    }

    @Test func `an instance cannot have more than 1 GiB`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(try await daemon.httpPort())/rooms/none/clock")
            let result = try await window.run(
                """
                const module = await WebAssembly.compile(await (await fetch("/lectern/lectern.wasm")).arrayBuffer());
                const page = { now: () => 0, random: () => {} };
                const { memory } = new WebAssembly.Instance(module, { page }).exports;
                const pages = (1 << 30) / 65536 - memory.buffer.byteLength / 65536;
                memory.grow(pages);
                const bytes = memory.buffer.byteLength;
                try {
                    memory.grow(1);
                    return [bytes, "grew"];
                } catch (error) {
                    return [bytes, error.name];
                }
                """)
            #expect(result == [.number(0x1p30), "RangeError"])
            try await window.close()
        }
    }
}

extension BrowserSmokeTests {
    @Test func `an outbox that is answered while more is drawn is in WebAssembly what it is natively`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0")
            let window = try await BrowserWindow(at: "http://127.0.0.1:\(try await daemon.httpPort())/rooms/none/clock")
            try await window.expectSame(KnownCalls.outbox(), "outbox")
            try await window.close()
        }
    }
}

extension BrowserWindow {
    /// Bytes of an instance at most after some thousand calls: a board, its canvases and what waits are a small part.
    private static let mostBytes = 64.0 * 1024 * 1024

    /// Makes calls natively and in WebAssembly: they have the same answers.
    fileprivate func expectSame(_ calls: [CoreCall], _ name: Comment) async throws {
        CoreCall.reset()
        let expected = calls.map { $0.run() }
        let result = try await run(
            """
            \(CoreTape.player)
            const reply = await fetch("/lectern/lectern.wasm");
            return play(await WebAssembly.compile(await reply.arrayBuffer()), args[0]);
            """, [.string(CoreTape.text(calls))])
        let hashes = (result["hashes"]?.elements ?? []).map { UInt32($0.double ?? 0) }
        #expect(result["trap"] == AnyJSON.null, name)
        let other = zip(hashes, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        #expect(other == nil, name)
        #expect(hashes.count == expected.count, name)
        #expect((result["bytes"]?.double ?? .infinity) <= Self.mostBytes, name)
    }
}
