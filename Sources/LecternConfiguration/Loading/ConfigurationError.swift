/// Everything that is wrong with a configuration; the daemon does not start with it.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// 1 or more.
    public let faults: [ConfigurationFault]

    /// The exit code of a process that got such a configuration: 78, `EX_CONFIG` of sysexits.h, also for arguments that
    /// set a key. (64, `EX_USAGE`, is for arguments that cannot be read at all.)
    public static let exitCode: Int32 = 78

    /// One fault a line.
    public var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}

/// One thing that is wrong with a configuration.
public struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where it is: `lectern.yaml:12: limits.shards`, `LECTERN_LIMITS_SHARDS`, `argument limits.shards`, or the keys
    /// that do not go together.
    public let origin: String
    /// What is wrong, and what would be right.
    public let complaint: String

    /// `<origin>: <complaint>`, in one line.
    public var description: String { "\(origin): \(complaint)" }
}
