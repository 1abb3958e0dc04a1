// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A target whose imports are exactly what is listed here: the layers of the product, bottom up.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// Tests of what is listed here, with what all tests share.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: settings)
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let locks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

/// Whether only the pure targets are wanted: a sanitizer needs nothing else, and builds them in a tenth of the time.
let isPureOnly = Context.environment["LECTERN_PURE_ONLY"] != nil

let pureTargets: [Target] = [
    // No Foundation, no clocks, no I/O, no `await`; time is a parameter.
    layer("StrokeWire"),
    layer("Ink", ["StrokeWire"]),
    .systemLibrary(name: "CLanes"),
    layer("Raster", ["CLanes", "Ink", "StrokeWire"]),
    layer("Whiteboard", ["StrokeWire", deque]),
    layer("Hosting", ["Whiteboard", "StrokeWire", heap]),

    // What tests share: seeds, random numbers, recorded lessons, waiting.
    .target(
        name: "TestSupport", dependencies: ["StrokeWire"], path: "Tests/TestSupport", swiftSettings: settings),
    tests("StrokeWireTests", ["StrokeWire"]),
    tests("InkTests", ["Ink", "StrokeWire"]),
    tests("RasterTests", ["Raster", "Ink", "StrokeWire"]),
    tests("WhiteboardTests", ["Whiteboard", "StrokeWire"]),
    tests("HostingTests", ["Hosting", "Whiteboard", "StrokeWire", heap]),
]

let serviceTargets: [Target] = [
    .systemLibrary(name: "CCairo", pkgConfig: "cairo", providers: [.apt(["libcairo2-dev"])]),
    layer("VectorGraphics", ["CCairo", "Raster", "Ink", "StrokeWire"]),
    .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    layer("NATSClient", ["CNATS", logging]),
    layer("Journal", ["NATSClient", "Whiteboard", "StrokeWire", logging]),
    layer(
        "LecternServer",
        [
            "Journal", "Hosting", "NATSClient", "Whiteboard", "Raster", "Ink", "StrokeWire", logging, metrics,
            lifecycle, locks,
        ]),
    layer(
        "LecternGateway",
        ["NATSClient", "StrokeWire", hummingbird, hummingbirdCore, nio, locks, logging, metrics, lifecycle]),
    layer("LecternClient", ["NATSClient", "StrokeWire", logging, deque]),
    layer("LecternConfiguration", ["Whiteboard", "Ink", "StrokeWire", configuration, yams]),
    .executableTarget(
        name: "lectern",
        dependencies: [
            "LecternServer", "LecternGateway", "LecternClient", "LecternConfiguration", "Hosting", "Journal",
            "NATSClient", "VectorGraphics", "Raster", "Ink", "Whiteboard", "StrokeWire", arguments, logging, metrics,
            lifecycle, signals, locks,
        ],
        swiftSettings: settings),

    .systemLibrary(name: "CMalloc"),
    .executableTarget(
        name: "lectern-bench",
        dependencies: [
            "LecternServer", "LecternClient", "Journal", "NATSClient", "Whiteboard", "Raster", "Ink", "StrokeWire",
            "CCairo", "CMalloc", arguments, lifecycle, logging,
        ],
        swiftSettings: settings),

    // A nats-server of its own for each test that asks for one.
    .target(
        name: "NATSTestServer", dependencies: ["NATSClient", logging], path: "Tests/NATSTestServer",
        swiftSettings: settings),
    tests("VectorGraphicsTests", ["VectorGraphics", "CCairo", "Raster", "Ink", "StrokeWire"]),
    tests("NATSClientTests", ["NATSClient", "NATSTestServer", logging]),
    tests(
        "JournalTests", ["Journal", "NATSClient", "NATSTestServer", "Whiteboard", "StrokeWire", logging]),
    tests("LecternClientTests", ["LecternClient", "NATSClient", "NATSTestServer", "StrokeWire", logging]),
    tests("LecternConfigurationTests", ["LecternConfiguration", "Whiteboard", "StrokeWire"]),
    tests(
        "LecternGatewayTests",
        [
            "LecternGateway", "NATSClient", "NATSTestServer", "StrokeWire", hummingbird, hummingbirdTesting, metrics,
            lifecycle, logging, nio,
        ]),
    tests(
        "LecternServerTests",
        [
            "LecternServer", "LecternClient", "Journal", "Hosting", "NATSClient", "NATSTestServer", "Whiteboard",
            "StrokeWire", lifecycle,
            logging, metrics,
        ]),
    // The built program beside real NATS servers, both ended in every way there is.
    tests("DaemonTests", ["LecternClient", "NATSClient", "NATSTestServer", "StrokeWire", logging]),
]

let pureProducts: [Product] = [
    .library(name: "StrokeWire", targets: ["StrokeWire"]),
    .library(name: "Ink", targets: ["Ink"]),
    .library(name: "Raster", targets: ["Raster"]),
    .library(name: "Whiteboard", targets: ["Whiteboard"]),
]

let serviceDependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: ["YAML"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
]

let package = Package(
    name: "lectern",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: pureProducts + (isPureOnly ? [] : [.executable(name: "lectern", targets: ["lectern"])]),
    dependencies: [.package(url: "https://github.com/apple/swift-collections", from: "1.1.0")]
        + (isPureOnly ? [] : serviceDependencies),
    targets: pureTargets + (isPureOnly ? [] : serviceTargets),
    swiftLanguageModes: [.v6]
)
