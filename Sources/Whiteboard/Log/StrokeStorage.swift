/// The memory of a stroke: its fields, then its message as it is kept.
typealias StrokeStorage = ManagedBuffer<StrokeFields, UInt8>

/// The order makes them fit without padding.
struct StrokeFields: Sendable {
    let index: UInt64
    let origin: StrokeOrigin
    let byteCount: Int
    let pointCount: UInt32
    let isLate: Bool
}

extension ManagedBuffer where Header == StrokeFields, Element == UInt8 {
    /// - Precondition: `fields.byteCount == bytes.count`
    static func make(_ fields: StrokeFields, _ bytes: [UInt8]) -> StrokeStorage {
        let storage = create(minimumCapacity: bytes.count) { _ in fields }
        storage.withUnsafeMutablePointerToElements { memory in
            bytes.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return }
                memory.initialize(from: start, count: bytes.count)
            }
        }
        return storage
    }

    /// A copy of the message as it is kept.
    var bytes: [UInt8] {
        withUnsafeMutablePointers { fields, memory in
            Array(UnsafeBufferPointer(start: memory, count: fields.pointee.byteCount))
        }
    }
}
