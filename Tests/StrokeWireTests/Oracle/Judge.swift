import StrokeWire

/// The rules of the stroke message once more, as plainly as they can be said over a value that was read already, and
/// with `Double` for all numbers.
struct Judge {
    var limits = WireLimits()

    /// The first fault, nil for an acceptable message.
    func fault(_ value: AnyJSON) -> Fault? {
        if value.depth > 8 { return Fault(.notJSON) }
        guard case .object(let message) = value else { return Fault(.wrongType) }
        if message["n"] == nil { return Fault(.missingField, "n") }
        let shards = integer(message["s"]) ?? 0
        let rules: [(String, (AnyJSON) -> RejectionCode?)] = [
            ("n", { integer($0, 0, 9_007_199_254_740_991, .outOfRange) }),
            ("c", { integer($0, 0, 7, .outOfRange) }),
            ("l", { number($0) { $0 > 0 && $0 <= 512 } }),
            (
                "s",
                {
                    integer($0, -.infinity, Double(limits.shards), .tooManyShards)
                        ?? integer($0, 0, .infinity, .outOfRange)
                }
            ),
            ("o", { integer($0, 0, shards, .outOfRange) }),
            ("e", { integer($0, 0, 4, .unknownElement) }),
            ("a", { integer($0, 0, 4, .unknownAction) }),
            ("t", { number($0) { $0.magnitude < 0x1p63 } }),
            ("w", { number($0) { $0 >= 1 && $0 <= 16384 } }),
            ("h", { number($0) { $0 >= 1 && $0 <= 16384 } }),
        ]
        for (key, rule) in rules {
            if let value = message[key], let code = rule(value) { return Fault(code, key) }
        }
        if let action = integer(message["a"]), action >= 2 { return nil }
        guard let points = message["d"] else { return Fault(.missingField, "d") }
        guard case .array(let points) = points else { return Fault(.wrongType, "d") }
        if points.count > limits.points { return Fault(.tooManyPoints, "d") }
        if points.isEmpty && shards < 2 { return Fault(.outOfRange, "d") }
        for (index, point) in points.enumerated() {
            if let fault = self.fault(of: point, "d[\(index)]") { return fault }
        }
        return nil
    }

    private func fault(of point: AnyJSON, _ name: String) -> Fault? {
        guard case .object(let point) = point else { return Fault(.wrongType, name) }
        for key in ["x", "y", "f", "i", "z", "m"] {
            let isCoordinate = key == "x" || key == "y"
            guard let value = point[key] else {
                if isCoordinate { return Fault(.missingField, "\(name).\(key)") }
                continue
            }
            if let code = number(value, { !isCoordinate || $0.magnitude <= 65536 }) {
                return Fault(code, "\(name).\(key)")
            }
        }
        return nil
    }

    private func integer(_ value: AnyJSON?) -> Double? {
        if case .number(let number) = value { number } else { nil }
    }

    private func integer(
        _ value: AnyJSON, _ low: Double, _ high: Double, _ code: RejectionCode
    ) -> RejectionCode? {
        guard case .number(let number) = value, number == number.rounded() else { return .wrongType }
        return number < low || number > high ? code : nil
    }

    private func number(_ value: AnyJSON, _ isFine: (Double) -> Bool) -> RejectionCode? {
        guard case .number(let number) = value else { return .wrongType }
        return isFine(number) ? nil : .outOfRange
    }
}
