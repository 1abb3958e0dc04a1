internal import Hummingbird

/// `GET /healthz`: the process runs. `GET /readyz`: it can do its work.
struct HealthRoutes {
    let rooms: RoomService

    func add(to router: Router<BasicRequestContext>) {
        router.get("healthz") { _, _ in Response.text("ok") }
        router.get("readyz") { [rooms] _, _ in
            do throws(GatewayError) {
                try await rooms.probe()
            } catch {
                throw GatewayError.notReady(error.message)
            }
            return Response.text("ready")
        }
    }
}
