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
        return Response(status: status, headers: headers, body: ResponseBody(inChunks: ByteBuffer(bytes: bytes)))
    }

    /// A short plain text.
    static func text(_ text: String) -> Response {
        body(text.utf8, type: "text/plain; charset=utf-8")
    }

    /// A value as JSON with sorted keys.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return body(try encoder.encode(value), type: "application/json", status: status)
    }
}

extension ResponseBody {
    /// Writes a body chunk by chunk. A slow client that takes one now and then is seen to be alive; the whole of a
    /// picture in one piece would look stalled until its last byte is gone (`stallHandlers`).
    fileprivate init(inChunks buffer: ByteBuffer, of size: Int = 32 << 10) {
        guard buffer.readableBytes > size else {
            self.init(byteBuffer: buffer)
            return
        }
        var rest = buffer
        var chunks: [ByteBuffer] = []
        while let chunk = rest.readSlice(length: min(size, rest.readableBytes)), chunk.readableBytes > 0 {
            chunks.append(chunk)
        }
        self.init(contentsOf: chunks)
    }
}
