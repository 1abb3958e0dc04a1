import Foundation
import Locking
import NATSClient
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// For suites and tests that `make browser` runs.
    static var inBrowsers: Self { .enabled(if: BrowserWindow.runsAll, "make browser runs it") }
}

/// A window of a headless Chromium, driven over WebDriver. It ends with the test.
final class BrowserWindow: Sendable {
    /// Whether Chromium and its driver are installed.
    static let isInstalled = InstalledProgram("chromedriver") != nil && InstalledProgram("chromium") != nil
    /// Whether all tests with a browser run, and not the short one alone.
    static let runsAll = isInstalled && EnvironmentVariable("LECTERN_BROWSER").text != nil

    /// The size of a window in CSS pixels.
    struct Size: Sendable {
        var width: Int
        var height: Int
        /// Pixels a CSS pixel.
        var scale = 1.0

        static let desktop = Size(width: 1440, height: 1000)
        static let tablet = Size(width: 820, height: 1180, scale: 2)
        static let phone = Size(width: 390, height: 844, scale: 3)
    }

    /// What a pointer of a test is.
    enum Pointer: String { case mouse, pen, touch }

    private let driver: LoopbackRequest
    private let session: String

    /// Starts a driver on a free port; nil where it has ended: it wants the port that it has drawn in IPv6, too.
    private static func startDriver(_ started: StartedProcesses) async throws -> Int? {
        let folder = try started.makeFolder()
        let log = folder.appending(path: "chromedriver-\(UUID()).log")
        // A browser whose driver is killed leaves its profile.
        let program = try ChildProcess(
            "/usr/bin/env", arguments: ["TMPDIR=\(folder.path)", "chromedriver", "--port=0"], log: log.path)
        started.add(program)
        return try await eventually("chromedriver listens, or ends") { () -> Int?? in
            let said = (try? Data(contentsOf: log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            if let port = said.firstMatch(of: /started successfully on port ([0-9]+)/) { return .some(Int(port.1)) }
            return program.hasExited ? .some(nil) : nil
        }
    }

    /// Opens a window in a browser of its own, with nothing stored.
    init(_ size: Size = .desktop, isDark: Bool = false) async throws {
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end the browser") }
        var port: Int?
        for _ in 0..<10 where port == nil { port = try await Self.startDriver(started) }
        guard let port else { throw Unexpected("chromedriver does not listen") }
        driver = LoopbackRequest(port: port)
        // Over a pipe: the browser ends with its driver, however that ends.
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
            "--disable-dev-shm-usage", "--window-size=\(size.width),\(size.height)",
            "--force-device-scale-factor=\(size.scale)",
        ]
        let options = AnyJSON.object(["args": .array(arguments.map(AnyJSON.string))])
        let capabilities = AnyJSON.object([
            "alwaysMatch": [
                "browserName": "chrome", "goog:chromeOptions": options,
                "goog:loggingPrefs": ["browser": "ALL"],
            ]
        ])
        let reply = try await Self.send("POST", "/session", ["capabilities": capabilities], over: driver)
        guard case .string(let identifier)? = reply["sessionId"] else { throw Unexpected("no session") }
        session = "/session/\(identifier)"
        try await post("/timeouts", ["script": 60_000])
        // The bars of a window take some of its height.
        try await setMetrics(size)
        let scheme = AnyJSON.object([
            "name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light"),
        ])
        try await devTools("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// Opens a window in a browser of its own, and goes to an address.
    convenience init(_ size: Size = .desktop, isDark: Bool = false, at address: String) async throws {
        try await self.init(size, isDark: isDark)
        try await open(address)
    }

    /// Opens a window in a browser of its own, and waits until the page draws.
    convenience init(_ size: Size = .desktop, isDark: Bool = false, writingAt address: String) async throws {
        try await self.init(size, isDark: isDark)
        try await open(writingAt: address)
    }

    /// Gives the window another size; its pixels stay as they are.
    func resize(to size: Size) async throws {
        try await setMetrics(size)
        try await run("await nextFrames()")
    }

    /// Shows the page with other media features, or for paper.
    func emulate(_ features: [String: String], media: String = "") async throws {
        let list = features.map { AnyJSON.object(["name": .string($0.key), "value": .string($0.value)]) }
        try await devTools("Emulation.setEmulatedMedia", ["media": .string(media), "features": .array(list)])
        try await run("await nextFrames()")
    }

    /// Runs a script in each page that is opened from now on, before its own.
    func runFirst(_ script: String) async throws {
        try await devTools("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
    }

    /// Draws with several fingers at once, each of which comes down so many moves after the first.
    func drawTogether(_ strokes: [(after: Int, points: [(x: Double, y: Double)])]) async throws {
        let sources = strokes.enumerated().map { number, stroke in
            func move(_ point: (x: Double, y: Double), _ duration: Double) -> AnyJSON {
                [
                    "type": "pointerMove", "x": .number(point.x.rounded()), "y": .number(point.y.rounded()),
                    "duration": .number(duration),
                ]
            }
            var actions = [AnyJSON](repeating: ["type": "pause", "duration": 8], count: stroke.after)
            for (place, point) in stroke.points.enumerated() {
                actions.append(move(point, place == 0 ? 0 : 8))
                if place == 0 { actions.append(["type": "pointerDown", "button": 0]) }
            }
            actions.append(["type": "pointerUp", "button": 0])
            return AnyJSON.object([
                "type": "pointer", "id": "finger\(number)",
                "parameters": ["pointerType": "touch"], "actions": .array(actions),
            ])
        }
        try await post("/actions", ["actions": .array(sources)])
    }

    /// A module of this checkout as statements of a script: the program has those of its pages in bundles alone.
    static func statements(of path: String) throws -> String {
        try String(contentsOfFile: PackageRoot.path(to: path), encoding: .utf8).replacing("\nexport ", with: "\n")
            .replacing(#/(?m)^import (\{.*\}) from "\.\.(.*)";$/#) { "const \($0.1) = await import(\"\($0.2)\");" }
    }

    /// Goes to an address, and waits until the page has loaded.
    func open(_ address: String) async throws {
        try await post("/url", ["url": .string(address)])
    }

    /// Goes to an address, and waits until the page draws.
    func open(writingAt address: String) async throws {
        try await open(address)
        try await waitUntilWriting()
    }

    /// Runs the body of an async function in the page, with what is in ``scriptLibrary``; `args` are its arguments. Returns what it returns.
    @discardableResult
    func run(_ script: String, _ arguments: [AnyJSON] = []) async throws -> AnyJSON {
        let wrapped = """
            const done = arguments[arguments.length - 1];
            \(Self.scriptLibrary)
            (async (...args) => { \(script) })(...Array.from(arguments).slice(0, -1))
                .then((value) => done({ value }), (error) => done({ failed: String(error?.stack ?? error) }));
            """
        let reply = try await post("/execute/async", ["script": .string(wrapped), "args": .array(arguments)])
        if case .string(let failure)? = reply["failed"] { throw Unexpected("in the page: \(failure)") }
        return reply["value"] ?? .null
    }

    /// Whether an expression in the page is `true` now, and not only like it.
    func isTrue(_ expression: String) async throws -> Bool { try await run("return \(expression)") == true }

    /// The text that an expression in the page is.
    func string(_ expression: String) async throws -> String {
        try await run("return \(expression)").required(as: \.string)
    }

    /// Left, top, width and height in the window of an element, which is given as JavaScript.
    func box(of element: String) async throws -> [Double] {
        try await run(
            "const { left, top, width, height } = \(element).getBoundingClientRect(); return [left, top, width, height];"
        ).numbers(4)
    }

    /// Waits until an expression in the page is true.
    func wait(for what: String, _ expression: String, within limit: Duration = .hangLimit) async throws {
        do {
            try await eventually(what, within: limit, is: await run("return Boolean(\(expression))") == true)
        } catch {
            throw Unexpected(
                "\(error); the page says: \(try await text(of: "document.body")); \(try await complaints())")
        }
    }

    /// The text that an element shows.
    func text(of element: String) async throws -> String {
        try await run("return \(element).innerText").string ?? ""
    }

    /// The part of a stroke that is drawn.
    enum Phase {
        /// Puts the pen down at the first point; it stays down.
        case begin
        /// Moves the pen, which is down.
        case go
        /// Moves the pen, which is down, and lifts it.
        case end
        case whole
    }

    /// Draws a stroke, or a part of one, through points of the window, in CSS pixels.
    /// - Parameter hold: milliseconds that the pointer stays at the first point.
    func draw(
        _ points: [(x: Double, y: Double)], with pointer: Pointer = .pen, _ phase: Phase = .whole, hold: Double = 0
    ) async throws {
        func move(_ point: (x: Double, y: Double), _ number: Int) -> AnyJSON {
            var action: [String: AnyJSON] = [
                "type": "pointerMove", "x": .number(point.x.rounded()), "y": .number(point.y.rounded()),
                "duration": .number(number == 0 ? 0 : 8),
            ]
            if pointer == .pen, number > 0 { action["pressure"] = .number(min(0.3 + Double(number) / 100, 1)) }
            return .object(action)
        }
        var actions: [AnyJSON] = []
        if phase == .begin || phase == .whole, let first = points.first {
            var down: [String: AnyJSON] = ["type": "pointerDown", "button": 0]
            if pointer == .pen { down["pressure"] = 0.3 }
            actions = [move(first, 0), .object(down)]
        }
        let rest = points.dropFirst(actions.isEmpty ? 0 : 1)
        if hold > 0 { actions.append(["type": "pause", "duration": .number(hold)]) }
        actions += rest.enumerated().map { move($1, $0 + 1) }
        if phase == .end || phase == .whole {
            actions.append(["type": "pointerUp", "button": 0])
        }
        let source = AnyJSON.object([
            "type": "pointer", "id": .string(pointer.rawValue),
            "parameters": ["pointerType": .string(pointer.rawValue)], "actions": .array(actions),
        ])
        try await post("/actions", ["actions": [source]])
    }

    /// Clicks with the mouse where an element is, as somebody does who sees it.
    func clickInSight(of selector: String) async throws {
        let reply = try await run(
            """
            const target = document.querySelector(args[0]);
            target.scrollIntoView({ block: "nearest" });
            const { left, top, width, height } = target.getBoundingClientRect();
            const [x, y] = [left + width / 2, top + height / 2];
            const hit = document.elementFromPoint(x, y);
            return target.contains(hit) || hit?.contains(target) ? { x, y } : { hidden: hit?.outerHTML.slice(0, 200) ?? "" };
            """, [.string(selector)])
        guard let x = reply["x"]?.double, let y = reply["y"]?.double else { throw Unexpected("\(selector): \(reply)") }
        try await draw([(x: x, y: y)], with: .mouse)
    }

    /// Types a text, key by key, where the focus is.
    func type(_ text: String) async throws {
        let keys = text.flatMap { key in
            ["keyDown", "keyUp"].map { AnyJSON.object(["type": .string($0), "value": .string(String(key))]) }
        }
        let source = AnyJSON.object(["type": "key", "id": "keys", "actions": .array(keys)])
        try await post("/actions", ["actions": [source]])
    }

    /// Composes with an input method where the focus is, step by step, and makes a text of it; nil: it is still being composed.
    func compose(_ steps: [String], into text: String? = nil) async throws {
        for step in steps {
            let end = AnyJSON.number(Double(step.utf16.count))
            try await devTools(
                "Input.imeSetComposition", ["text": .string(step), "selectionStart": end, "selectionEnd": end])
        }
        if let text { try await devTools("Input.insertText", ["text": .string(text)]) }
    }

    /// Takes the network from the window, or gives it back.
    func setOffline(_ isOffline: Bool) async throws {
        try await devTools("Network.enable", [:])
        try await devTools(
            "Network.emulateNetworkConditions",
            [
                "offline": .bool(isOffline), "latency": 0, "downloadThroughput": -1,
                "uploadThroughput": -1,
            ])
    }

    /// Keeps a picture of the window in `.build/browser`.
    func keepScreenshot(_ name: String) async throws {
        guard case .string(let text) = try await Self.send("GET", session + "/screenshot", nil, over: driver),
            let picture = Data(base64Encoded: text)
        else { throw Unexpected("no screenshot") }
        let folder = PackageRoot.path(to: ".build/browser")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try picture.write(to: URL(filePath: "\(folder)/\(name).png"))
    }

    /// Errors and warnings of the page's console since the last call, but for requests without an answer.
    func complaints() async throws -> [String] {
        let reply = try await post("/se/log", ["type": "browser"])
        guard case .array(let entries) = reply else { return [] }
        return entries.compactMap { entry in
            guard case .string(let message)? = entry["message"], entry["level"] != "INFO",
                !message.contains("net::ERR_"), !message.contains("willReadFrequently")
            else { return nil }
            return message
        }
    }

    /// Expects that the page has complained of nothing else; a failure says of what.
    func expectNoComplaints(
        but isExpected: (String) -> Bool = { _ in false }, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let complaints = try await complaints().filter { !isExpected($0) }
        #expect(complaints == [], sourceLocation: sourceLocation)
    }

    /// Opens another tab of the same browser and goes to an address there. Returns what leads back.
    func openTab(_ address: String) async throws -> (old: AnyJSON, new: AnyJSON) {
        let old = try await Self.send("GET", session + "/window", nil, over: driver)
        guard let new = try await post("/window/new", ["type": "tab"])["handle"] else {
            throw Unexpected("no tab")
        }
        try await show(new)
        try await open(address)
        return (old, new)
    }

    /// Goes to a tab.
    func show(_ tab: AnyJSON) async throws {
        try await post("/window", ["handle": tab])
    }

    /// Closes the browser.
    func close() async throws {
        _ = try await Self.send("DELETE", session, nil, over: driver)
    }

    private func setMetrics(_ size: Size) async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(size.width)), "height": .number(Double(size.height)),
                "deviceScaleFactor": .number(size.scale), "mobile": .bool(size.width < 1000),
            ])
    }

    private func devTools(_ command: String, _ parameters: [String: AnyJSON]) async throws {
        try await post("/goog/cdp/execute", ["cmd": .string(command), "params": .object(parameters)])
    }

    @discardableResult
    private func post(_ path: String, _ body: [String: AnyJSON]) async throws -> AnyJSON {
        try await Self.send("POST", session + path, body, over: driver)
    }

    private static func send(
        _ method: String, _ path: String, _ body: [String: AnyJSON]?, over driver: LoopbackRequest
    ) async throws -> AnyJSON {
        let text = body.map { AnyJSON.object($0).text }
        let value = try AnyJSON.decode(try await driver.send(method, path, body: text))["value"] ?? .null
        if case .string(let message)? = value["message"], value["error"] != nil {
            throw Unexpected("\(path): \(message)")
        }
        return value
    }
}

extension AnyJSON {
    /// The value as JSON.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
        case .string(let value):
            (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(AnyJSON.string($0).text):\($1.text)" }.joined(separator: ",") + "}"
        }
    }

    /// The elements; none where it is no list.
    var elements: [AnyJSON] { if case .array(let elements) = self { elements } else { [] } }

    /// The text, if it is one.
    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The texts among the elements.
    var strings: [String] { elements.compactMap(\.string) }

    /// The elements, which have to be so many numbers.
    func numbers(_ count: Int) throws -> [Double] {
        let numbers = elements.compactMap(\.double)
        guard numbers.count == count, elements.count == count else { throw Unexpected("not \(count) numbers: \(self)") }
        return numbers
    }

    func required<Value>(as kind: (AnyJSON) -> Value?) throws -> Value {
        guard let value = kind(self) else { throw Unexpected("another kind of value: \(self)") }
        return value
    }

    /// The number, if it is one.
    var double: Double? {
        if case .number(let value) = self { value } else { nil }
    }
}
