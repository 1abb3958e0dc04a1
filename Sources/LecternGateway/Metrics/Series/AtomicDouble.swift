internal import Synchronization

/// A number that several threads add to. There is no atomic floating point: its bits are exchanged until it fits.
final class AtomicDouble: Sendable {
    private let bits: Atomic<UInt64>

    init(_ value: Double) {
        bits = Atomic(value.bitPattern)
    }

    func load() -> Double {
        Double(bitPattern: bits.load(ordering: .relaxed))
    }

    func store(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }
}

/// A count in a list of counts; an atomic itself cannot be an element of an array.
final class AtomicCount: Sendable {
    private let count = Atomic<UInt64>(0)

    func load() -> UInt64 { count.load(ordering: .relaxed) }
    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
}
