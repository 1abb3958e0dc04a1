import Foundation
import Hummingbird
import TestSupport

extension HTTPClient {
    func get(_ path: String, headers: HTTPFields) async throws -> Response {
        try await send("GET", path, headers: headers.map { ($0.name.rawName, $0.value) })
    }

    func head(_ path: String) async throws -> Response { try await send("HEAD", path) }

    func post(_ path: String, body: String) async throws -> Response { try await send("POST", path, body: body) }
}

/// A response in the types of the gateway.
extension HTTPClient.Response {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: statusCode) }

    var headers: HTTPFields {
        var headers: HTTPFields = [:]
        for (name, value) in fields {
            if let name = HTTPFields.Element.Name(name) { headers[name] = value }
        }
        return headers
    }

    /// The body as JSON, in a form that can be compared.
    var json: NSDictionary {
        get throws { try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:] }
    }

    /// The code of `{"error":{"code":…}}`.
    var errorCode: String? {
        get throws { try (json["error"] as? NSDictionary)?["code"] as? String }
    }
}
