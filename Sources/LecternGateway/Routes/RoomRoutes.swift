internal import Hummingbird
internal import StrokeWire

/// `GET /api/rooms`: all rooms. `GET /api/rooms/ROOM`: the state of one, and its address also when it has none.
struct RoomRoutes {
    let rooms: RoomService

    func add(to router: Router<BasicRequestContext>) {
        router.get("api/rooms") { [rooms] _, _ in
            Response.body(try await rooms.listing().json, type: "application/json")
        }
        router.get("api/rooms/:room") { [rooms] _, context in
            let room = try context.room()
            do throws(GatewayError) {
                return Response.body(try await rooms.state(of: room), type: "application/json")
            } catch {
                throw error.about(rooms.address(of: room))
            }
        }
    }
}
