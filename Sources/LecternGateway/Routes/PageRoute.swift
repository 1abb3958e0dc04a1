internal import Hummingbird

/// `GET /`: a page for people.
struct PageRoute {
    let rooms: RoomService

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { [rooms] _, _ in
            // The page may show no more than its own style: nothing in it can run.
            let headers: HTTPFields = [
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'", .cacheControl: "no-cache",
            ]
            let page: String
            do throws(GatewayError) {
                page = try await rooms.listing().page
            } catch {
                page = IndexPage(rooms: [], notice: error.message).html
            }
            return Response.body(page.utf8, type: "text/html; charset=utf-8", headers: headers)
        }
    }
}
