internal import Foundation

/// The package's own folder, wherever its sources are linked from.
package enum PackageRoot {
    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The absolute path of a file or folder of the package.
    package static func path(to file: String) -> String { folder.appending(path: file).standardized.path }
}
