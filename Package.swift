// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Whether what is built is the core of the site: pages load it, and so all that does not draw is made small.
let isCore = Context.environment["LECTERN_CORE"] != nil

/// Whether this is built for its own sake. A package that uses it allows no flags.
let isRoot = Context.environment["LECTERN_TARGETS"] != nil

/// With this a debug build is optimized, with the checks of one. As a whole module: what is generic costs no calls.
let optimized: [SwiftSetting] =
    isRoot
    ? [
        .unsafeFlags(
            ["-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug"],
            .when(configuration: .debug))
    ] : []

/// A target whose imports are exactly what is listed here: the layers of the product, bottom up.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A layer without I/O. Pictures, and tests with thousands of schedules, would take minutes without optimization.
/// - Parameter isFast: whether it is not made small for pages.
func pure(_ name: String, _ dependencies: [Target.Dependency] = [], isFast: Bool = false, path: String? = nil) -> Target
{
    let size: [SwiftSetting] = isCore && !isFast ? [.unsafeFlags(["-Osize"])] : []
    return .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings + optimized + size)
}

/// Tests of what is listed here, with what all tests share.
/// - Parameter computes: whether they are optimized. To optimize tests takes longer than what most of them run by that faster.
func tests(
    _ name: String, _ dependencies: [Target.Dependency], computes: Bool = false, exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude,
        swiftSettings: settings + (computes ? optimized : []))
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioExtras: Target.Dependency = .product(name: "NIOExtras", package: "swift-nio-extras")
let http1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let ordered: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

/// Which targets a run of tests needs, so that no more is built: `pure` ones with their tests, those with `threads` with
/// theirs, the whole `service` without the pure tests, the `probe`, which alone needs FFmpeg; with commas between them, and
/// all of them unless said.
let selection = (Context.environment["LECTERN_TARGETS"] ?? "pure,service,probe").split(separator: ",")
let hasPureTests = selection.contains("pure")
let hasService = selection.contains("service")
let hasThreads = hasService || selection.contains("threads")
let hasProbe = selection.contains("probe")
let isPureAlone = !hasThreads && !hasProbe

let pureTargets: [Target] = [
    // No Foundation, no clocks, no I/O, no `await`; time is a parameter.
    pure("StrokeWire"),
    pure("Ink", ["StrokeWire"]),
    // Paths of lines and curves: intersections, cutting, union.
    pure("PathGeometry"),
    // Vector operations, and loops in C that choose the instructions of the processor while they run.
    .target(name: "CLanes", path: "Sources/C/CLanes"),
    pure("Raster", ["CLanes", "Ink", "PathGeometry", "StrokeWire", ordered], isFast: true),
    // The picture of a page with lassos: areas of ink, cut and moved; what a page shows as layers for a painter.
    pure("Scene", ["Ink", "PathGeometry", "Raster", "StrokeWire"]),
    pure("Whiteboard", ["Ink", "StrokeWire", deque, heap, ordered]),
    // A client's half: what it shows, without I/O. For programs, apps and, through `WebCore`, browsers.
    pure("ClientCore", ["Ink", "PathGeometry", "Raster", "Scene", "StrokeWire", "Whiteboard", deque]),
    // What the core imports in a browser, and what Swift's library misses there.
    .target(name: "CWebShims", path: "Sources/C/CWebShims"),
    // The core as functions of WebAssembly, for the site; `make core` builds it.
    pure("WebCore", ["ClientCore", "CWebShims", "PathGeometry", "Raster", "Scene", "StrokeWire", "Whiteboard"]),
    // What a teacher's page calls besides; the pages of students load a core without it.
    pure("WebTeacher", ["ClientCore", "PathGeometry", "Scene", "StrokeWire", "WebCore"]),
    pure("Hosting", ["Whiteboard", "StrokeWire", deque, heap]),
    // Files that are placed on boards: names, formats, limits, errors.
    pure("Assets", ["StrokeWire"]),
    // Times in video streams, and where a player stands in one.
    pure("VideoTiming", ["StrokeWire", deque]),

    // What tests share: seeds, random numbers, lessons, models, waiting.
    pure("TestSupport", ["Ink", "Whiteboard", "StrokeWire"], path: "Tests/TestSupport"),
    // Calls of the core, natively and in WebAssembly.
    pure(
        "CoreTrial",
        ["CWebShims", "ClientCore", "Ink", "StrokeWire", "TestSupport", "WebCore", "WebTeacher", "Whiteboard"],
        path: "Tests/CoreTrial"),
]

let pureTests: [Target] = [
    tests("StrokeWireTests", ["StrokeWire"]),
    tests("InkTests", ["Ink", "StrokeWire"]),
    tests(
        "PathGeometryTests", ["PathGeometry", "Raster", "Ink", "StrokeWire"], exclude: ["skia_areas.py"]),
    tests("SceneTests", ["Scene", "PathGeometry"]),
    tests(
        "ClientCoreTests",
        ["ClientCore", "CoreTrial", "Ink", "PathGeometry", "Raster", "Scene", "StrokeWire", "Whiteboard"]),
    // Samples of each pixel.
    tests("RasterTests", ["Raster", "Ink", "PathGeometry", "StrokeWire"], computes: true),
    tests("WhiteboardTests", ["Whiteboard", "StrokeWire"]),
    tests("VideoTimingTests", ["VideoTiming", "StrokeWire"]),
    // Counts what the tests' threads allocate.
    .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
    // Thousands of schedules.
    tests("HostingTests", ["AllocationCounter", "Hosting", "Whiteboard", "StrokeWire", heap], computes: true),
]

let natsTargets: [Target] = [
    .systemLibrary(name: "CNATS", path: "Sources/C/CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    // The lock of all modules with threads.
    layer("Locking", [deque]),
    // What clients with threads share, over NATS and over HTTP.
    layer("ClientRuntime", ["ClientCore", "StrokeWire"]),
    layer("NATSClient", ["CNATS", "Locking", logging]),
    // A nats-server of its own for each test that asks for one.
    .target(
        name: "NATSTestServer", dependencies: ["NATSClient", "Locking", "TestSupport", logging],
        path: "Tests/NATSTestServer",
        swiftSettings: settings),
]

// Options of commands that connect to NATS, for the programs.
let commandTargets: [Target] = [layer("ConnectionOptions", ["NATSClient", arguments, logging])]

let threadTargets: [Target] = [
    .systemLibrary(
        name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    // Hashes and signatures, by the library that libnats has for TLS.
    layer("Cryptography", ["COpenSSL"]),
    layer(
        "Journal",
        ["Assets", "Cryptography", "Hosting", "NATSClient", "Locking", "Whiteboard", "StrokeWire", logging, deque]),
    // Decoders of images, and the process that they run in.
    .target(
        name: "CAssetOpener", path: "Sources/C/CAssetOpener",
        linkerSettings: ["spng", "jpeg", "webp", "seccomp"].map { .linkedLibrary($0, .when(platforms: [.linux])) }),
    layer("AssetOpener", ["Assets", "CAssetOpener", "Locking", "StrokeWire"]),
    .systemLibrary(name: "CZlib", path: "Sources/C/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
        name: "CCairo", path: "Sources/C/CCairo", pkgConfig: "cairo pangocairo pangoft2 fontconfig",
        providers: [.apt(["libcairo2-dev", "libpango1.0-dev"])]),
    // Texts of boards in the fonts of the machine.
    .target(name: "CTextLayout", dependencies: ["CCairo"], path: "Sources/C/CTextLayout"),
    layer(
        "VectorGraphics",
        ["CCairo", "CTextLayout", "Locking", "PathGeometry", "Raster", "Scene", "Ink", "StrokeWire"]),
    .systemLibrary(
        name: "CLibXML", path: "Sources/C/CLibXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CXML", dependencies: ["CLibXML"], path: "Sources/C/CXML"),
    // Ink as a file for other programs, out and in.
    layer("InkML", ["CXML", "Ink", "StrokeWire"]),
    layer(
        "LecternServer",
        [
            "AssetOpener", "Assets", "Journal", "Hosting", "NATSClient", "Locking", "Whiteboard", "InkML",
            "VectorGraphics",
            "PathGeometry", "Raster", "Scene", "Ink",
            "StrokeWire",
            logging, metrics, lifecycle, deque,
        ]),
    layer("LecternClient", ["Assets", "ClientCore", "ClientRuntime", "NATSClient", "Locking", "StrokeWire", logging]),
    // The lessons of `lectern demo`, of benchmarks and tests, and the slides of one.
    layer("LecternDemo", ["CCairo", "LecternClient", "StrokeWire"]),

    tests("CryptographyTests", ["Cryptography"]),
    tests("InkMLTests", ["InkML", "StrokeWire"]),
    tests("NATSClientTests", ["NATSClient", "NATSTestServer", "Locking", logging]),
    tests(
        "JournalTests",
        [
            "Assets", "Journal", "Hosting", "NATSClient", "NATSTestServer", "Locking", "Whiteboard", "StrokeWire",
            logging,
        ]),
    tests(
        "LecternClientTests",
        [
            "Assets", "ClientCore", "ClientRuntime", "LecternClient", "LecternDemo", "NATSClient", "NATSTestServer",
            "Whiteboard", "StrokeWire", logging,
        ]),
    tests(
        "LecternServerTests",
        [
            "Assets", "LecternServer", "LecternClient", "LecternDemo", "Journal", "Hosting", "NATSClient",
            "NATSTestServer",
            "Locking", "InkML", "Scene", "Whiteboard", "Ink", "StrokeWire", lifecycle, logging, metrics, deque,
        ]),
]

// A client over a gateway's HTTP: nothing of NATS, and no library in C. The program does without it.
let httpClientTargets: [Target] = [
    layer("LecternHTTPClient", ["ClientCore", "ClientRuntime", "Locking", "StrokeWire", "Whiteboard"])
]

let serviceTargets: [Target] = [
    // The files for browsers, as bytes of the program, and the functions that find them: the gateway compiles before these files
    // are built.
    .target(name: "CSite", path: "Sources/C/CSite"),
    .systemLibrary(name: "CSiteFiles", path: "Sources/C/CSiteFiles"),
    .target(
        name: "LecternGateway",
        dependencies: [
            "Assets", "CSiteFiles", "CZlib", "Cryptography", "LecternClient", "NATSClient", "Locking", "StrokeWire",
            hummingbird, hummingbirdCore, nio, nioExtras, nioPosix, http1, logging, metrics, lifecycle, deque,
        ],
        swiftSettings: settings),
    layer("LecternConfiguration", ["Whiteboard", "Ink", "StrokeWire", yams]),
    .executableTarget(
        name: "lectern",
        dependencies: [
            "LecternServer", "LecternGateway", "LecternClient", "LecternDemo", "LecternConfiguration", "AssetOpener",
            "Assets", "CSite", "ConnectionOptions", "Hosting", "Journal", "NATSClient", "Locking", "InkML",
            "VectorGraphics",
            "Raster", "Scene", "Ink",
            "Whiteboard", "StrokeWire", arguments, logging, metrics, lifecycle, signals,
        ],
        swiftSettings: settings,
        // The allocator of the daemon: messages are allocated on one thread and freed on another, which costs glibc's a lock for
        // each.
        linkerSettings: [.linkedLibrary("jemalloc", .when(platforms: [.linux]))]),

    // What the service is measured against: a relay in C, libpng.
    .target(name: "CBench", dependencies: ["CNATS"], path: "Sources/C/CBench", linkerSettings: [.linkedLibrary("png")]),
    .executableTarget(
        name: "lectern-bench",
        dependencies: [
            "LecternClient", "LecternDemo", "NATSClient", "Hosting", "Whiteboard", "VectorGraphics", "Raster",
            "PathGeometry", "Scene", "Ink", "StrokeWire", "Locking", "CCairo", "CBench", "CZlib", arguments, histogram,
            logging, nio, nioPosix,
        ],
        swiftSettings: settings),

    tests(
        "VectorGraphicsTests",
        ["VectorGraphics", "CCairo", "Locking", "PathGeometry", "Raster", "Scene", "Ink", "StrokeWire"]),
    tests("LecternConfigurationTests", ["LecternConfiguration", "Whiteboard", "StrokeWire"]),
    tests(
        "LecternGatewayTests",
        [
            "CSite", "CZlib", "ClientCore", "Cryptography", "Journal", "LecternGateway", "LecternHTTPClient",
            "LecternServer", "LecternClient",
            "NATSClient", "NATSTestServer", "Locking", "Whiteboard", "StrokeWire", hummingbird, nio, nioPosix, metrics,
            lifecycle, logging,
        ]),
    .systemLibrary(name: "CJPEG", path: "Tests/CJPEG", providers: [.apt(["libjpeg62-turbo-dev"])]),
    .executableTarget(
        name: "asset-sandbox-probe", dependencies: ["CAssetOpener"], path: "Tests/AssetSandboxProbe"),
    // Names and formats of files; files opened by the built program.
    tests("AssetOpenerTests", ["AssetOpener", "Assets", "StrokeWire", "CZlib", "CJPEG"]),
    // The client of the documentation, which is a package of its own, too.
    .executableTarget(
        name: "follow", dependencies: ["LecternClient", "NATSClient", "StrokeWire", logging],
        path: "Tests/ClientExample/Sources/follow", swiftSettings: settings),
    .executableTarget(
        name: "follow-http", dependencies: ["LecternHTTPClient", "StrokeWire"],
        path: "Tests/HTTPClientExample/Sources/follow-http", swiftSettings: settings),
    // Links between hosts that delay what goes over them.
    .target(name: "LinkForwarder", path: "Tests/LinkForwarder"),
    // The built program beside real NATS servers, both ended in every way there is.
    tests(
        "DaemonTests",
        [
            "CoreTrial", "InkML", "LecternClient", "Cryptography", "NATSClient",
            "NATSTestServer", "Locking",
            "StrokeWire", "Whiteboard", "CCairo", "CJPEG", "LinkForwarder", logging, nio, nioPosix,
        ],
        exclude: ["Proof/Player"]),
]

let probeTargets: [Target] = [
    .systemLibrary(
        name: "CAVFormat", path: "Sources/C/CAVFormat", pkgConfig: "libavformat libavcodec libavutil",
        providers: [.apt(["libavformat-dev", "libavcodec-dev", "libavutil-dev"])]),
    .executableTarget(
        name: "lectern-probe",
        dependencies: [
            "CAVFormat", "ConnectionOptions", "VideoTiming", "NATSClient", "Locking", "StrokeWire", arguments, logging,
            signals, nio, nioPosix, http1,
        ],
        swiftSettings: settings),
    // The built program beside real encoders and NATS servers.
    tests(
        "ProbeTests",
        [
            "VideoTiming", "NATSClient", "NATSTestServer", "Locking", "StrokeWire", logging, nio,
            nioPosix, http1,
        ]),
]

let pureProducts: [Product] = [
    .library(name: "StrokeWire", targets: ["StrokeWire"]),
    .library(name: "Ink", targets: ["Ink"]),
    .library(name: "PathGeometry", targets: ["PathGeometry"]),
    .library(name: "Raster", targets: ["Raster"]),
    .library(name: "Whiteboard", targets: ["Whiteboard"]),
    // With the modules of its API: boards and messages.
    .library(name: "ClientCore", targets: ["ClientCore", "StrokeWire", "Whiteboard"]),
]

let serviceProducts: [Product] = [
    // With the modules of its API: connections, messages and subjects.
    .library(name: "LecternClient", targets: ["LecternClient", "Assets", "NATSClient", "StrokeWire"]),
    // The same over HTTP, for apps: without libraries in C.
    .library(name: "LecternHTTPClient", targets: ["LecternHTTPClient", "ClientCore", "StrokeWire", "Whiteboard"]),
    .executable(name: "lectern", targets: ["lectern"]),
]

/// What the program is made of, as one target of a build: it is compiled while the core of the site is.
let partsProduct: Product = .library(
    name: "LecternParts", type: .static,
    targets: ["LecternServer", "LecternGateway", "LecternConfiguration", "LecternDemo", "ConnectionOptions"])

let probeProducts: [Product] = [
    .executable(name: "lectern-probe", targets: ["lectern-probe"])
]

let serviceDependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    // Closing of connections in order, where a socket is not Hummingbird's.
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.20.0"),
    // Latencies of benchmarks.
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    // Without its own settings, which come from swift-configuration.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
]

let package = Package(
    name: "lectern",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: pureProducts + (hasService ? serviceProducts + (isRoot ? [partsProduct] : []) : [])
        + (hasProbe ? probeProducts : []),
    dependencies: [.package(url: "https://github.com/apple/swift-collections", from: "1.1.0")]
        + (isPureAlone ? [] : serviceDependencies),
    targets: pureTargets
        + (hasPureTests ? pureTests : [])
        + (isPureAlone ? [] : natsTargets)
        + (hasThreads ? threadTargets : [])
        + (hasService || hasProbe ? commandTargets : [])
        + (hasService ? httpClientTargets + serviceTargets : [])
        + (hasProbe ? probeTargets : []),
    swiftLanguageModes: [.v6]
)
