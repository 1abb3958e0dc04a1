/// The first point of a message that is not as it has to be.
struct PointFault {
    let index: Int
    let problem: PointProblem

    var rejection: Rejection {
        switch problem {
        case .none, .notAnObject: .wrongType("d[\(index)]", "an object")
        case .missing(let key): .missing("d[\(index)].\(key)")
        case .wrongType(let key): .wrongType("d[\(index)].\(key)", "a number")
        case .beyondBoard(let key):
            .outOfRange("d[\(index)].\(key)", "between -65536 and 65536")
        case .infinite(let key): .outOfRange("d[\(index)].\(key)", "a number that a double can hold")
        }
    }
}

/// What is wrong with a point, if anything.
enum PointProblem: Equatable {
    case none
    case notAnObject
    case missing(Unicode.Scalar)
    case wrongType(Unicode.Scalar)
    case beyondBoard(Unicode.Scalar)
    case infinite(Unicode.Scalar)
}

extension PointReading {
    /// The first fault, in the order x, y, f, i, z, m.
    @inline(__always)
    var problem: PointProblem {
        if case .number(let x) = x, case .number(let y) = y, x.magnitude <= Self.bound, y.magnitude <= Self.bound,
            force.isFine, altitude.isFine, azimuth.isFine, milliseconds.isFine
        {
            return .none
        }
        return slowProblem
    }

    /// Largest magnitude of a coordinate.
    static var bound: Double { 65536 }

    private var slowProblem: PointProblem {
        let members: [(Unicode.Scalar, PointValue)] = [
            ("x", x), ("y", y), ("f", force), ("i", altitude), ("z", azimuth), ("m", milliseconds),
        ]
        for (key, value) in members {
            let isCoordinate = key == "x" || key == "y"
            switch value {
            case .absent: if isCoordinate { return .missing(key) }
            case .other: return .wrongType(key)
            case .number(let number):
                if isCoordinate, number.magnitude > Self.bound { return .beyondBoard(key) }
                if number.isInfinite { return .infinite(key) }
            }
        }
        return .none
    }
}

extension PointValue {
    /// Whether it may stand for a member that may be left out.
    @inline(__always)
    fileprivate var isFine: Bool {
        switch self {
        case .absent: true
        case .other: false
        case .number(let number): number.isFinite
        }
    }
}
