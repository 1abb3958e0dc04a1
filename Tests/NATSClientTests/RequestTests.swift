import Foundation
import NATSTestServer
import TestSupport
import Testing

@testable import NATSClient

@Suite struct RequestTests {
    @Test func `Many requests at once get their own replies`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            _ = try nats.subscribe("double") { message in
                guard let reply = message.reply else { return }
                try? nats.publish(message.copyPayload().map { $0 &* 2 }, to: reply, headers: ["Unit": "byte"])
            }
            let areRight = try await concurrently(0..<200 as Range<UInt8>) { value in
                let reply = try await nats.request([value], to: "double", timeout: .seconds(30))
                return reply.payload == [value &* 2] && reply.header("Unit") == "byte"
            }
            #expect(areRight.allSatisfy { $0 })
        }
    }

    @Test func `A request to nobody fails at once`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            await #expect(throws: NATSError.noResponders) {
                try await nats.request([1], to: "nobody", timeout: .seconds(600))
            }
            await #expect(throws: NATSError.noResponders) {
                try await nats.requestParts([1], to: "nobody", timeout: .seconds(600))
            }
            let replies = try await nats.requestMany([1], to: "nobody", window: .seconds(600))
            #expect(replies.isEmpty)
        }
    }

    @Test func `A request without an answer times out, and its late reply harms nobody`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let asked = Recorder<String>()
            _ = try nats.subscribe("mute") { message in if let reply = message.reply { asked.append(reply) } }
            await #expect(throws: NATSError.timeout) {
                try await nats.request([1], to: "mute", timeout: .milliseconds(20))
            }
            let inbox = try await asked.values(1)
            try nats.publish([9], to: inbox[0])
            try nats.publish([9], to: inbox[0] + "x")
            try await nats.flush(timeout: .seconds(30))
            #expect(nats.state == .connected)
        }
    }

    @Test func `A repeated request outlives a lost reply and a server that restarts meanwhile`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let asked = Recorder<Void>()
            _ = try nats.subscribe("forgetful") { message in
                asked.append(())
                guard asked.values.count > 2, let reply = message.reply else { return }
                try? nats.publish([7], to: reply)
            }
            let task = Task {
                try await nats.requestParts(
                    [1], to: "forgetful", timeout: .milliseconds(500), repeatingFor: .seconds(600))
            }
            _ = try await asked.values(1)
            await server.kill()
            try await server.restart()
            #expect(try await task.value.payload == [7])
        }
    }

    @Test func `A repeated request to nobody fails at once, and one without an answer at its limit`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            await #expect(throws: NATSError.noResponders) {
                try await nats.requestParts([1], to: "nobody", repeatingFor: .seconds(600))
            }
            _ = try nats.subscribe("mute") { _ in }
            await #expect(throws: NATSError.timeout) {
                try await nats.requestParts([1], to: "mute", timeout: .milliseconds(20), repeatingFor: .zero)
            }
        }
    }

    @Test func `A reply in parts is joined, and a whole one taken as it is`() async throws {
        let body = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await NATSTestServer.withConnection { server, nats in
            _ = try nats.subscribe("join.*") { message in
                guard let reply = message.reply else { return }
                if message.subject == "join.whole" {
                    try? nats.publish(body, to: reply, headers: ["Ink-Room": "r"])
                } else {
                    for part in 1...3 {
                        let bytes = Array(body[(part - 1) * 250_000..<min(part * 250_000, body.count)])
                        try? nats.publish(bytes, to: reply, headers: ["Ink-Part": "\(part)/3", "Ink-Room": "r"])
                    }
                }
            }
            for kind in ["whole", "parts"] {
                let reply = try await nats.requestParts([1], to: "join.\(kind)", timeout: .seconds(30))
                #expect(reply.payload == body)
                #expect(reply.header("Ink-Room") == "r")
            }
        }
    }

    @Test func `A request to many gathers the answers of its window`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            for value in 0..<3 as Range<UInt8> {
                try nats.answer("members") { _ in [value] }
            }
            // The time of three answers depends on the machine: the window grows until they fit.
            var members: Set<[UInt8]> = []
            for exponent in 0..<10 where members.count < 3 {
                let window = Duration.milliseconds(50 << exponent)
                members = Set(try await nats.requestMany([1], to: "members", window: window).map(\.payload))
            }
            #expect(members == [[0], [1], [2]])
        }
    }

    @Test func `A request to many ends before its window when it has enough`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            _ = try nats.subscribe("members") { message in
                guard let reply = message.reply else { return }
                for _ in 0..<5000 { try? nats.publish([7], to: reply) }
            }
            #expect(try await nats.requestMany([1], to: "members", window: .seconds(600)).count == 4096)
        }
    }

    @Test func `A request to many ends before its window when its caller has enough`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            for value in 0..<3 as Range<UInt8> {
                _ = try nats.subscribe("members") { message in
                    guard let reply = message.reply else { return }
                    for part in 1...2 { try? nats.publish([value], to: reply, headers: ["Ink-Part": "\(part)/2"]) }
                }
            }
            var members: Set<[UInt8]> = []
            try await nats.requestMany(to: "members", window: .seconds(600)) { reply in
                members.insert(reply.payload)
                return members.count == 3
            }
            #expect(members == [[0, 0], [1, 1], [2, 2]])
        }
    }

    @Test func `A request to many is over when its task is cancelled`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let asked = Recorder<Bool>()
            _ = try nats.subscribe("members") { _ in asked.append(true) }
            let request = Task { try await nats.requestMany(to: "members", window: .seconds(600)) }
            _ = try await asked.values(1)
            request.cancel()
            await #expect(throws: NATSError.cancelled) { try await request.value }
        }
    }
}

@Suite struct PermissionTests {
    @Test func `A request that may not be published fails at once with the reason`() async throws {
        try await NATSTestServer.withUser(permissions: "publish: { deny: yours }") { nats in
            let error = NATSError.notPermitted(PermissionViolation(.publish, "yours"))
            await #expect(throws: error) { try await nats.request(to: "yours", timeout: .seconds(600)) }
            await #expect(throws: error) { try await nats.requestMany(to: "yours", window: .seconds(600)) }
            // Other requests go on.
            await #expect(throws: NATSError.noResponders) { try await nats.request(to: "mine", timeout: .seconds(600)) }
        }
    }

    @Test func `Requests of a user who may not receive replies fail at once with the reason`() async throws {
        try await NATSTestServer.withUser(permissions: #"subscribe: { deny: "_INBOX.>" }"#) { nats in
            for _ in 1...2 {
                do throws(NATSError) {
                    _ = try await nats.request(to: "a", timeout: .seconds(600))
                    Issue.record("answered")
                } catch .notPermitted(let violation) {
                    #expect(violation.action == .subscribe && violation.subject.hasPrefix("_INBOX."))
                }
            }
        }
    }

    @Test func `An observer is told of subscriptions and messages that are refused`() async throws {
        let permissions = "publish: { deny: yours }, subscribe: { deny: theirs }"
        try await NATSTestServer.withUser(permissions: permissions) { nats in
            let violations = Recorder<PermissionViolation>()
            let observation = nats.onPermissionViolation { violations.append($0) }
            _ = try nats.subscribe("theirs") { _ in }
            try nats.publish([], to: "yours")
            #expect(
                try await violations.values(2) == [
                    PermissionViolation(.subscribe, "theirs"), PermissionViolation(.publish, "yours"),
                ])
            observation.cancel()
        }
    }

    @Test func `A file of credentials or certificates that is none is told of with its name`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).creds")
        try Data("nothing".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        @Sendable func unreadable(_ path: String, _ why: String) -> NATSError { .unreadableFile(path: path, why: why) }
        try await NATSTestServer.with { server in
            for (path, why) in [
                ("/no/such.creds", "No such file or directory"), (file.path, "there is no -----BEGIN in it"),
            ] {
                var settings = NATSSettings(server)
                settings.credentialsFile = path
                let nats = NATSConnection(settings, logger: .silent)
                await #expect(throws: unreadable(path, why)) { try await nats.connect(within: .milliseconds(200)) }
            }
        }
        var settings = NATSSettings()
        settings.tls.authorityFile = file.path
        #expect(throws: unreadable(file.path, "there is no CERTIFICATE----- in it")) { try settings.check() }
    }
}

@Suite struct PermissionViolationTests {
    @Test func `The server's error is read, with the subject`() {
        let publish = PermissionViolation(reported: #"Permissions Violation for Publish to "ink.rooms""#)
        #expect(publish == PermissionViolation(.publish, "ink.rooms"))
        #expect(publish?.description == "this NATS user may not publish to ink.rooms")
        let subscribe = PermissionViolation(reported: #"Permissions Violation for Subscription to "_INBOX.a.*""#)
        #expect(subscribe == PermissionViolation(.subscribe, "_INBOX.a.*"))
        let queue = PermissionViolation(reported: #"Permissions Violation for Subscription to "a" using queue "q""#)
        #expect(queue == PermissionViolation(.subscribe, "a"))
    }

    @Test(arguments: ["", "Authorization Violation", #"Unknown "thing""#, #"Permissions Violation for Publish to "a"#])
    func `Anything else is no violation`(_ text: String) {
        #expect(PermissionViolation(reported: text) == nil)
    }
}
