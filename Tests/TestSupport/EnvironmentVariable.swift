internal import Foundation

/// What whoever starts the tests may say; empty is as good as absent.
package struct EnvironmentVariable {
    private let name: String

    package init(_ name: String) {
        self.name = name
    }

    package var text: String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    package var number: UInt64? { text.flatMap { UInt64($0) } }
}
