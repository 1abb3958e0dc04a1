import Journal
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

@Suite(.timeLimit(.minutes(5))) struct RevocationRegisterTests {
    private func register(
        _ nats: NATSConnection, isStored: Bool = true, limit: Int = RevocationTable.limit
    ) throws -> (RevocationRegister, Task<Void, Never>) {
        let register = RevocationRegister(
            root: "ink", connection: nats, store: isStored ? store(nats) : nil, limit: limit, logger: .silent)
        try register.listen()
        return (register, Task { await register.run() })
    }

    private func store(_ nats: NATSConnection) -> RevocationStore {
        RevocationStore(root: "ink", settings: JournalSettings(), connection: nats, logger: .silent)
    }

    /// Runs a register on a server of its own.
    private func withRegister(
        isStored: Bool = true, limit: Int = RevocationTable.limit,
        _ body: @Sendable (NATSConnection, RevocationRegister) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: isStored) { _, nats in
            let (register, running) = try register(nats, isStored: isStored, limit: limit)
            defer { running.cancel() }
            _ = try await listed(nats, 0)
            try await body(nats, register)
        }
    }

    /// Revokes tokens, and waits until they are listed.
    private func add(_ names: [String], to register: RevocationRegister, _ nats: NATSConnection) async throws {
        for name in names { try await register.add(try token(name)) }
        _ = try await listed(nats, names.count)
    }

    /// A stream of revocations as an operator makes it.
    private func stream(_ messages: Int) -> [UInt8] {
        let text = """
            {"name":"INK_REVOKED","subjects":["ink.revocations.*"],"retention":"limits","storage":"file",
            "discard":"new","num_replicas":1,"max_msgs":\(messages),"max_msgs_per_subject":1}
            """
        return Array(text.utf8)
    }

    private func token(_ id: String, expires: Int64? = nil) throws -> Revocation {
        try #require(Revocation.token(id, expires: expires))
    }

    /// All revocations that the daemons tell a gateway.
    private func list(_ nats: NATSConnection) async throws -> [Revocation] {
        var (request, all) = (RevocationRequest(), [Revocation]())
        while true {
            let reply = try await nats.request(request.encoded(), to: "ink.revocations").payload
            if let refusal = RequestError(decoding: reply) { throw refusal }
            let page = try RevocationPage(decoding: reply)
            all += page.revocations
            request = RevocationRequest(list: page.list, after: page.through)
            if !page.hasMore { return all }
        }
    }

    private func listed(_ nats: NATSConnection, _ count: Int) async throws -> [Revocation] {
        try await eventually("there are \(count) revocations") {
            let all = try await list(nats)
            return all.count == count ? all : nil
        }
    }

    @Test func `all daemons tell the same list, also after they and NATS were restarted`() async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server) { nats in
                try await NATSConnection.with(server) { other in
                    let (first, running) = try register(nats)
                    _ = try await listed(nats, 0)
                    try await first.add(try token("a", expires: 4_000_000_000))
                    _ = try await listed(nats, 1)
                    let (second, alsoRunning) = try register(other)
                    // What is known is taken once more, and not stored, when the list has been read.
                    try await second.add(try token("a", expires: 4_000_000_000))
                    let news = Recorder<String>()
                    try nats.subscribe("ink.revoked") { news.append(String(decoding: $0.copyPayload(), as: UTF8.self)) }
                    try await nats.flush()
                    try await first.add(try token("b"))
                    try await first.add(try token("a", expires: 4_000_000_001))
                    let all = try await listed(nats, 2)
                    #expect(Set(all) == [try token("a", expires: 4_000_000_001), try token("b")])
                    // Each daemon publishes it, so that one that ends takes none with it.
                    #expect(try await news.values(4).filter { $0.contains(#""jti":"b""#) }.count == 2)
                    running.cancel()
                    alsoRunning.cancel()
                }
            }
            await server.kill()
            try await server.restart()
            try await NATSConnection.with(server) { nats in
                let (register, running) = try register(nats)
                #expect(try await listed(nats, 2).count == 2)
                try await register.add(try token("c"))
                #expect(try await listed(nats, 3).count == 3)
                running.cancel()
            }
        }
    }

    @Test
    func `of two about one token that two daemons take at the same moment, what both say is stored`() async throws {
        try await withRegister { nats, _ in
            // As a daemon stores one that has not read the other's yet. Of each token the stream keeps the last message alone.
            let store = store(nats)
            try await store.save(try token("a"))
            _ = try await listed(nats, 1)
            try await store.save(try token("a", expires: 4_000_000_000))
            try await store.save(try #require(Revocation.subject("anna", issuedThrough: 9)))
            _ = try await listed(nats, 2)
            try await store.save(try #require(Revocation.subject("anna", issuedThrough: 5)))
            let whole: Set = [try token("a"), try #require(Revocation.subject("anna", issuedThrough: 9))]
            try await eventually("the stream has both whole") {
                let stored = Recorder<Revocation>()
                let reader = try store.read { event in
                    if case .revocation(let revocation, _) = event { stored.append(revocation) }
                }
                defer { reader.cancel() }
                return Set(try await stored.values(2)) == whole ? () : nil
            }
            #expect(Set(try await listed(nats, 2)) == whole)
        }
    }

    @Test func `revocations that a replaced stream has lost are stored in the new one`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { server, nats in
            let (register, running) = try register(nats)
            _ = try await listed(nats, 0)
            try await add(["a", "b", "c"], to: register, nats)
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.INK_REVOKED")
            let store = store(nats)
            _ = try await store.provision()
            try await store.save(try token("d"))
            #expect(Set(try await listed(nats, 4)) == Set(try ["a", "b", "c", "d"].map { try token($0) }))
            running.cancel()
            _ = await running.value
            let (_, next) = try self.register(nats)
            _ = try await listed(nats, 4)
            next.cancel()
        }
    }

    @Test func `losses of a first stream are stored also where the second one takes nothing and is lost, too`()
        async throws
    {
        try await withRegister { nats, register in
            try await add(["a", "b", "c"], to: register, nats)
            let store = store(nats)
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.INK_REVOKED")
            _ = try await nats.request(stream(1), to: "$JS.API.STREAM.CREATE.INK_REVOKED")
            try await store.save(try token("d"))
            // What there is is told after a while.
            #expect(try await listed(nats, 1) == [try token("d")])
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.INK_REVOKED")
            _ = try await store.provision()
            try await store.save(try token("e"))
            let all = Set(try ["a", "b", "c", "d", "e"].map { try token($0) })
            #expect(Set(try await listed(nats, 5)) == all)
        }
    }

    @Test
    func `a revocation is taken where the stream was deleted, and those before it are stored again`() async throws {
        try await withRegister { nats, register in
            try await add(["a", "b"], to: register, nats)
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.INK_REVOKED")
            try await register.add(try token("c"))
            #expect(Set(try await listed(nats, 3)) == Set(try ["a", "b", "c"].map { try token($0) }))
        }
    }

    @Test func `lost revocations keep their places until they are stored again`() async throws {
        try await withRegister(limit: 4) { nats, register in
            try await add(["a", "b", "c"], to: register, nats)
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.INK_REVOKED")
            _ = try await nats.request(stream(1), to: "$JS.API.STREAM.CREATE.INK_REVOKED")
            try await store(nats).save(try token("d"))
            #expect(try await listed(nats, 1) == [try token("d")])
            // There is place in the stream again, before the three are stored.
            _ = try await nats.request(stream(100), to: "$JS.API.STREAM.UPDATE.INK_REVOKED")
            let more = try token("e")
            await #expect(throws: RevocationRegister.Failure.full) { try await register.add(more) }
            // Of those that count already more may be said.
            try await register.add(try token("a", expires: 4_000_000_000))
        }
    }

    @Test func `links take half of the places at most`() async throws {
        try await withRegister(isStored: false, limit: 4) { nats, register in
            for number in 1...2 { try await register.add(try token("link.r.x.\(number)")) }
            let third = try token("link.s.x.3")
            await #expect(throws: RevocationRegister.Failure.full) { try await register.add(third) }
            for name in ["a", "b"] { try await register.add(try token(name)) }
            let more = try token("c")
            await #expect(throws: RevocationRegister.Failure.full) { try await register.add(more) }
        }
    }

    @Test func `without the stream the list is not told, and nothing is taken`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let (register, running) = try register(nats)
            let reply = try await nats.request(to: "ink.revocations").payload
            #expect(RequestError(decoding: reply)?.code == .notReady)
            let one = try token("a")
            await #expect(throws: RevocationRegister.Failure.self) { try await register.add(one) }
            running.cancel()
        }
    }

    @Test func `without a journal the list is one daemon's, with a name of its own`() async throws {
        try await withRegister(isStored: false) { nats, register in
            try await add(["a", "b"], to: register, nats)
            let page = try RevocationPage(decoding: try await nats.request(to: "ink.revocations").payload)
            #expect(page.through == 2)
        }
    }

    @Test func `a daemon whose clock is ahead removes no revocation that counts by the server's clock`() async throws {
        try await withRegister { nats, register in
            let now = WallClock.now()
            let (second, hour): (Int64, Int64) = (1_000_000_000, 3600)
            let holds = try token("holds", expires: now / second + hour)
            try await register.add(try token("ended", expires: now / second - 2 * hour))
            try await register.add(holds)
            try await register.add(try token("for ever"))
            _ = try await listed(nats, 3)
            await register.removeExpired(at: now - 2 * hour * second)
            #expect(try await list(nats).count == 3)
            for hours: Int64 in [3, 38 * 24, 10_000 * 24] {
                await register.removeExpired(at: now + hours * hour * second)
                #expect(try await list(nats) == [holds, try token("for ever")])
            }
            let stored = Recorder<Revocation>()
            let reader = try store(nats).read { event in
                if case .revocation(let revocation, _) = event { stored.append(revocation) }
            }
            defer { reader.cancel() }
            #expect(try await stored.values(2) == [holds, try token("for ever")])
        }
    }

    @Test
    func `a flood ends at the bound with an error that says so, and those that are known still hold`() async throws {
        let limit = 500
        try await withRegister(limit: limit) { nats, register in
            let refused = Locked(0)
            let count = limit + 150
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= 64 { await group.next() }
                    group.addTask {
                        guard let one = Revocation.token("token-\(number)", expires: nil) else { return }
                        // A busy machine may take longer than the register waits: then it is added again.
                        while !Task.isCancelled {
                            do throws(RevocationRegister.Failure) {
                                return try await register.add(one)
                            } catch .full {
                                return refused.withLock { $0 += 1 }
                            } catch {}
                        }
                    }
                }
            }
            #expect(refused.withLock { $0 } == 150)
            let all = try await listed(nats, limit)
            #expect(all.contains(try token("token-0")))
            let more = try token("one more")
            await #expect(throws: RevocationRegister.Failure.full) { try await register.add(more) }
            // One that is there is replaced.
            try await register.add(try token("token-0", expires: 4_000_000_000))
        }
    }
}
