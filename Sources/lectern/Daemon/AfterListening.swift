import NATSClient
import ServiceLifecycle

/// Runs a service once the HTTP side listens, so that an address that is taken is told of alone, before anything else
/// has begun.
struct AfterListening: Service {
    let service: any Service
    let isListening: Promise<Void>

    func run() async throws {
        let outcome = await cancelWhenGracefulShutdown { [isListening] in await isListening.value() }
        if case .success = outcome { try await service.run() }
    }
}
