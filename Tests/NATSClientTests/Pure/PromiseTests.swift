import Testing

@testable import NATSClient

@Suite struct PromiseTests {
    @Test func `The first result stays`() async throws {
        let promise = Promise<Int>()
        promise.fulfil(.success(1))
        promise.fulfil(.success(2))
        #expect(try await promise.value().get() == 1)
        #expect(try await promise.value(within: .seconds(10)).get() == 1)
    }

    @Test func `All who wait get the result`() async throws {
        let promise = Promise<Int>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await promise.value(within: .seconds(30)).get() } }
            group.addTask {
                promise.fulfil(.success(5))
                return 5
            }
            for try await value in group { #expect(value == 5) }
        }
    }

    @Test func `A wait that reaches its limit ends alone`() async throws {
        let promise = Promise<Int>()
        #expect(await promise.value(within: .milliseconds(1)) == .failure(.timeout))
        promise.fulfil(.success(3))
        #expect(try await promise.value().get() == 3)
    }

    @Test(.timeLimit(.minutes(1))) func `A limit that is over before the wait begins ends it all the same`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5_000 {
                        #expect(await Promise<Int>().value(within: .zero) == .failure(.timeout))
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `A cancelled task waits no longer`(beforeItBegins: Bool) async {
        let promise = Promise<Int>()
        let waiting = Promise<Void>()
        let task = Task {
            if beforeItBegins { _ = await waiting.value() }
            return await promise.value()
        }
        task.cancel()
        waiting.fulfil(.success(()))
        #expect(await task.value == .failure(.cancelled))
    }
}
