internal import Foundation

/// Bodies of JetStream's API: JSON with snake_case keys, and an `error` where something is wrong.
enum APIBody {
    private struct Failure: Decodable {
        struct Reason: Decodable {
            var code: Int
            var errCode: Int?
            var description: String?
        }
        var error: Reason?
    }

    static func encode(_ body: some Encodable) throws(JetStreamError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        do {
            return Array(try encoder.encode(body))
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// - Throws: what the answer reports as its error; `.malformed`.
    static func decode<Answer: Decodable>(
        _ answer: Answer.Type, from bytes: [UInt8]
    ) throws(JetStreamError) -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data(bytes)
        if let reason = (try? decoder.decode(Failure.self, from: data))?.error {
            throw JetStreamError(code: reason.code, number: reason.errCode ?? 0, text: reason.description ?? "")
        }
        do {
            return try decoder.decode(answer, from: data)
        } catch {
            throw .malformed(String(decoding: bytes.prefix(200), as: UTF8.self))
        }
    }
}

extension JetStreamError {
    init(code: Int, number: Int, text: String) {
        // Not enabled in the server; not enabled for the account.
        self = number == 10076 || number == 10039 ? .notEnabled : .api(code: code, number: number, text: text)
    }
}
