// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "http-client-example",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "lectern", path: "../..")],
    targets: [
        .executableTarget(name: "follow-http", dependencies: [.product(name: "LecternHTTPClient", package: "lectern")])
    ]
)
