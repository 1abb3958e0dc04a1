internal import Foundation
internal import Hummingbird
internal import StrokeWire

extension RequestContext {
    /// The room that the path names.
    func room() throws(GatewayError) -> RoomID {
        let text = parameters.get("room") ?? ""
        guard let room = RoomID(text.removingPercentEncoding ?? text) else {
            throw .badRequest("The name of a room is 1 to 64 characters of a to z, 0 to 9, _ and -.")
        }
        return room
    }
}

extension Request {
    /// The cohort that the query names, `main` without one.
    func cohort() throws(GatewayError) -> CohortName {
        guard let text = uri.queryParameters["cohort"] else { return .main }
        guard let cohort = CohortName(text) else {
            throw .badRequest(
                "The name of a cohort is 1 to 64 characters of a to z, 0 to 9, _ and -, but not open or default.")
        }
        return cohort
    }

    /// The width in pixels that the query asks for, if it does.
    func width() throws(GatewayError) -> Int? {
        guard let text = uri.queryParameters["width"] else { return nil }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let width = Int(text),
            1...4096 ~= width
        else {
            throw .badRequest("The width of a picture is a whole number of pixels from 1 to 4096.")
        }
        return width
    }
}
