internal import Foundation
internal import Hummingbird
internal import NIOCore

extension Response {
    /// A whole body of a kind that no browser second-guesses.
    static func body(
        _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func text(_ text: String) -> Response {
        body(text.utf8, type: "text/plain; charset=utf-8")
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return body(try encoder.encode(value), type: "application/json", status: status)
    }
}
