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
            let page: IndexPage
            do throws(GatewayError) {
                page = IndexPage(rooms: try await rooms.listing().rooms, notice: nil)
            } catch {
                page = IndexPage(rooms: [], notice: error.message)
            }
            return Response.body(page.html.utf8, type: "text/html; charset=utf-8", headers: headers)
        }
    }
}
