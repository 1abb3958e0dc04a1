internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Requests to a server, on this machine unless another host is given. Keeps no cookies and no cache.
package final class HTTPClient: Sendable {
    package struct Response: Sendable {
        package let statusCode: Int
        /// Values by name in lower case.
        package let fields: [String: String]
        package let bytes: [UInt8]

        package var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let session: URLSession
    private let host: String
    private let port: Int

    package init(host: String = "127.0.0.1", port: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration)
        self.host = host
        self.port = port
    }

    deinit { session.invalidateAndCancel() }

    package func get(_ path: String) async throws -> Response { try await send("GET", path) }

    /// - Parameter headers: names and values; a name may be there several times.
    package func send(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: String? = nil
    ) async throws -> Response {
        try await send(method, path, headers: headers, bytes: body.map { Array($0.utf8) })
    }

    package func send(
        _ method: String, _ path: String, headers: [(String, String)] = [], bytes: [UInt8]?
    ) async throws -> Response {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else { throw Unexpected("no URL: \(path)") }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = bytes.map { Data($0) }
        for (name, value) in headers { request.addValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw Unexpected("no HTTP response") }
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields {
            fields[name.lowercased()] = value
        }
        return Response(statusCode: response.statusCode, fields: fields, bytes: Array(data))
    }
}
