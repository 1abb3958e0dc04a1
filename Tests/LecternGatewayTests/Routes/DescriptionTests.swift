import Foundation
import TestSupport
import Testing

@testable import LecternGateway

/// Holds the gateway to its description at `/api/openapi.json`.
@Suite("OpenAPI description", .timeLimit(.minutes(4))) struct DescriptionTests {
    private struct Call {
        let method: String
        /// As in the description.
        let path: String
        /// What is sent.
        let target: String
        let body: String?
        let type: String
    }

    /// Calls of an operation: right, and wrong in each of its parameters and its body.
    private static func calls(
        _ path: String, _ method: String, _ operation: NSDictionary, _ shared: NSDictionary
    ) -> [Call] {
        let path = path.replacing("{asset}", with: String(repeating: "a", count: 64)).replacing("{page}", with: "0")
            .replacing("{author}", with: "bob")
        let needsAuthor = ["strokes", "wet", "import"].contains { path.hasSuffix($0) }
        let good = path.replacing("{room}", with: "r") + (needsAuthor ? "?author=anna" : "")
        let mark = good.contains("?") ? "&" : "?"
        var targets = [good, path.replacing("{room}", with: "No%20Room"), path.replacing("{room}", with: "empty")]
        for parameter in [
            "cohort=NO", "cohort=other", "width=0", "width=99999", "index=-1", "limit=x", "author=NO", "page=x",
        ] {
            targets.append(good + mark + parameter)
        }
        let body = resolved(operation["requestBody"] as? NSDictionary, shared)
        guard let content = body?["content"] as? NSDictionary else {
            return targets.map { Call(method: method, path: path, target: $0, body: nil, type: "") }
        }
        let right = #"{"n":1,"a":4,"m":1,"v":1,"index":1,"skew":2,"u":1,"x":true}"#
        let bodies = ["", "{}", "no JSON", right, "[]", "\u{0}", String(repeating: " ", count: 5000)]
        return targets.flatMap { target in
            content.allKeys.flatMap { type in
                bodies.map { Call(method: method, path: path, target: target, body: $0, type: "\(type)") }
            }
        }
    }

    /// What a reference names among the shared parts of the description.
    private static func resolved(_ part: NSDictionary?, _ shared: NSDictionary) -> NSDictionary? {
        guard let reference = part?["$ref"] as? String else { return part }
        let names = reference.split(separator: "/").suffix(2).map(String.init)
        return (shared[names[0]] as? NSDictionary)?[names[1]] as? NSDictionary
    }

    @Test("every answer has a status and a media type that the description names, and errors have their form")
    func answers() async throws {
        try await RunningClass.with(limits: .quick { $0.outcomeTimeout = .milliseconds(20) }) { lesson in
            try lesson.draw(1...2)
            let description = try await lesson.gateway.http.get("/api/openapi.json")
            #expect(description.fields["content-type"] == "application/json")
            let paths = try #require(try description.json["paths"] as? [String: [String: NSDictionary]])
            #expect(paths.count >= 13)
            let shared = try #require(try description.json["components"] as? NSDictionary)
            var count = 0
            // A stream has no end: the tests of event streams read it.
            for (path, operations) in paths where !path.hasSuffix("/events") {
                for (method, operation) in operations {
                    let responses = try #require(operation["responses"] as? NSDictionary)
                    for call in Self.calls(path, method.uppercased(), operation, shared) {
                        let headers = call.type.isEmpty ? [] : [("Content-Type", call.type)]
                        let answer = try await lesson.gateway.http.send(
                            call.method, call.target, headers: headers, body: call.body)
                        count += 1
                        let what = "\(call.method) \(call.target) \(call.body ?? ""): \(answer.statusCode)"
                        let described = responses["\(answer.statusCode)"] as? NSDictionary
                        guard let response = Self.resolved(described, shared) else {
                            Issue.record("\(what) is not described")
                            continue
                        }
                        if answer.statusCode >= 400 {
                            let error = try answer.json["error"] as? NSDictionary
                            #expect(error?["code"] is String && error?["message"] is String, "\(what)")
                        }
                        let types = (response["content"] as? NSDictionary)?.allKeys.map { "\($0)" } ?? []
                        let type = answer.fields["content-type"]?.split(separator: ";").first.map(String.init)
                        #expect(answer.bytes.isEmpty || types.contains(type ?? ""), "\(what): \(type ?? "no type")")
                    }
                }
            }
            print("\(count) calls")
        }
    }
}
