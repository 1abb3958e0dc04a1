import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore

extension TestClient.Response {
    var bytes: [UInt8] { body.map { Array($0.readableBytesView) } ?? [] }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as JSON, sorted by key so that it can be compared.
    var json: NSDictionary {
        get throws { try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:] }
    }

    /// The code of `{"error":{"code":…}}`.
    var errorCode: String? {
        get throws { try (json["error"] as? NSDictionary)?["code"] as? String }
    }
}
