internal import CNATS

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension NATSHeaders {
    /// The headers of a message of libnats, copied. Names come in no order: libnats keeps them in a hash table.
    init(copying message: borrowing NATSMessage) {
        var keys: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: Int32 = 0
        guard natsMsgHeader_Keys(message.raw, &keys, &count) == NATS_OK, let keys else { return }
        // The list is ours, the strings stay with the message.
        defer { free(keys) }
        for key in UnsafeBufferPointer(start: keys, count: Int(count)) {
            guard let key else { continue }
            appendValues(of: key, in: message)
        }
    }

    private mutating func appendValues(of key: UnsafePointer<CChar>, in message: borrowing NATSMessage) {
        var values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var count: Int32 = 0
        guard natsMsgHeader_Values(message.raw, key, &values, &count) == NATS_OK, let values else { return }
        defer { free(values) }
        let name = String(cString: key)
        for value in UnsafeBufferPointer(start: values, count: Int(count)) {
            append(name, value.map { String(cString: $0) } ?? "")
        }
    }

    /// Adds these headers to a message of libnats.
    func write(to message: OpaquePointer) throws(NATSError) {
        for field in fields {
            guard field.isValid else { throw .invalidHeader(field.name) }
            let status = natsMsgHeader_Add(message, field.name, field.value)
            guard status == NATS_OK else { throw NATSError(status) }
        }
    }
}

extension NATSHeaders.Field {
    /// Whether the protocol can carry the field: a name of visible ASCII without a colon, a value that is not blank
    /// (libnats loses its way in those) and has no control characters.
    var isValid: Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
            && value.utf8.contains { $0 != UInt8(ascii: " ") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }
}
