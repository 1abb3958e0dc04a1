internal import Foundation

/// A setting of the test run. An empty variable counts as absent.
package struct EnvironmentVariable {
    private let name: String

    package init(_ name: String) {
        self.name = name
    }

    package var text: String? { ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    package var number: UInt64? { text.flatMap { UInt64($0) } }
}

/// The folder of the package, also when its sources are symbolic links.
package enum PackageRoot {
    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    package static func path(to file: String) -> String { folder.appending(path: file).standardized.path }
}

/// A program from the `PATH`, or from elsewhere.
package struct InstalledProgram {
    private let file: URL

    /// - Returns: nil where there is no program at the path.
    package init?(path: String) {
        guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
        file = URL(filePath: path)
    }

    /// - Returns: nil where it is not installed.
    package init?(_ name: String) {
        let folders = EnvironmentVariable("PATH").text ?? "/usr/bin"
        let places = folders.split(separator: ":").map { URL(filePath: "\($0)/\(name)") }
        guard let file = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            return nil
        }
        self.file = file
    }

    /// Runs it to its end.
    /// - Returns: its standard output; nil if it failed.
    package func run(_ arguments: [String]) throws -> [UInt8]? {
        let process = Process()
        process.executableURL = file
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? Array(printed) : nil
    }
}
