import Foundation
import StrokeWire

/// A line of 16 hexadecimal digits, the FNV-1a (64 bit) of what follows it; then JSON that a person can read.
enum HashedJSON {
    /// - Precondition: numbers, booleans and valid text alone, of which none can be refused.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(value)).map { Array($0) } ?? []
        return Array("\(FNV1a64.digits(FNV1a64.hash(json)))\n".utf8) + json
    }

    /// nil for what is damaged, or something else.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        let json = bytes.dropFirst(17)
        guard bytes.count > 17, bytes[16] == UInt8(ascii: "\n"),
            bytes[..<16].elementsEqual(FNV1a64.digits(FNV1a64.hash(json)).utf8)
        else { return nil }
        return try? JSONDecoder().decode(type, from: Data(json))
    }
}
