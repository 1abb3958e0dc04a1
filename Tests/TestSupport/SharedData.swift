internal import Foundation

/// Data that lies beside the package and is no part of it.
enum SharedData {
    /// `../shared/data`, or the folder that `LECTERN_SHARED_DATA` names.
    static let folder = EnvironmentVariable("LECTERN_SHARED_DATA").text.map { URL(filePath: $0) } ?? besidePackage

    /// Beside the package, wherever its sources are linked from.
    private static var besidePackage: URL {
        var package = URL(filePath: #filePath).resolvingSymlinksInPath()
        for _ in ["SharedData.swift", "TestSupport", "Tests"] { package.deleteLastPathComponent() }
        return package.appending(path: "../shared/data").standardized
    }
}
