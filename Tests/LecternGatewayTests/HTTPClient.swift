import Foundation
import FoundationNetworking
import Hummingbird
import TestSupport

/// Requests to a gateway on this machine. Keeps no cookies and no cache.
final class HTTPClient: Sendable {
    private let session: URLSession
    private let port: Int

    init(port: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration)
        self.port = port
    }

    deinit { session.invalidateAndCancel() }

    struct Response: Sendable {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var bytes: [UInt8]
    }

    func get(_ path: String, headers: HTTPFields = [:]) async throws -> Response {
        try await send("GET", path, headers)
    }

    func head(_ path: String) async throws -> Response { try await send("HEAD", path) }

    func post(_ path: String, body: String) async throws -> Response {
        try await send("POST", path, body: body)
    }

    private func send(
        _ method: String, _ path: String, _ headers: HTTPFields = [:], body: String? = nil
    ) async throws -> Response {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw Unexpected("no URL: \(path)") }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for field in headers { request.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw Unexpected("no HTTP response") }
        var fields: HTTPFields = [:]
        for case (let name as String, let value as String) in response.allHeaderFields {
            if let name = HTTPFields.Element.Name(name) { fields[name] = value }
        }
        return Response(status: .init(code: response.statusCode), headers: fields, bytes: Array(data))
    }
}

extension HTTPClient.Response {
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as JSON, in a form that can be compared.
    var json: NSDictionary {
        get throws { try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:] }
    }

    /// The code of `{"error":{"code":…}}`.
    var errorCode: String? {
        get throws { try (json["error"] as? NSDictionary)?["code"] as? String }
    }
}
