// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "client-example",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "lectern", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "follow",
            dependencies: [
                .product(name: "LecternClient", package: "lectern"), .product(name: "Logging", package: "swift-log"),
            ])
    ]
)
