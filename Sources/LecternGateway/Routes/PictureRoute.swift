internal import Hummingbird

/// `GET /rooms/ROOM/board.png?cohort=C&width=W`: the board as released to a cohort.
///
/// A picture may be kept but has to be checked each time (`no-cache`): the tag saves sending it, not making it.
struct PictureRoute {
    let rooms: RoomService

    func add(to router: Router<BasicRequestContext>) {
        router.get("rooms/:room/board.png") { [rooms] request, context in
            let room = try context.room()
            let (cohort, width) = (try request.cohort(), try request.width())
            let picture = try await rooms.picture(of: room, cohort: cohort, width: width)
            let tag = EntityTag(of: picture)
            let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
            if let known = request.headers[.ifNoneMatch], tag.matches(known) {
                return Response(status: .notModified, headers: headers)
            }
            return Response.body(picture, type: "image/png", headers: headers)
        }
    }
}
