internal import StrokeWire

/// `{"error":{"code":…,"message":…}}`, with the room and its address where the request was about a room.
struct ErrorBody: Encodable {
    struct Reason: Encodable {
        let code: String
        let message: String
    }

    let error: Reason
    let room: String?
    let address: String?

    init(_ error: GatewayError) {
        self.error = Reason(code: error.code, message: error.message)
        room = error.address?.room.text
        address = error.address?.description
    }
}
