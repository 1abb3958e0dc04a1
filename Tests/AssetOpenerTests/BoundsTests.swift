import AssetOpener
import Assets
import Foundation
import TestSupport
import Testing

/// Files and children that never end, and what a child is allowed.
@Suite(.serialized) struct BoundsTests {
    /// Forms that each draw the next ten times: ten to the tenth power drawings.
    private var endless: [UInt8] {
        let levels = 10
        let forms = (0..<levels).map { level in
            level == levels - 1
                ? SamplePDF.stream("0 0 1 1 re f", "/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
                : SamplePDF.stream(
                    String(repeating: "/N Do ", count: 10),
                    "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /N \(level + 5) 0 R >> >>")
        }
        return SamplePDF.pages(
            ["/MediaBox [0 0 100 100]"], content: "/N Do", resources: "/XObject << /N 4 0 R >>", more: forms)
    }

    private func failure(_ body: () async throws -> Void) async -> AssetError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? AssetError
        }
    }

    @Test func `A PDF that never ends is stopped at its processor time, and at its wall-clock time`() async throws {
        let manifest = try await Opening.opener().inspect(endless)
        var (processor, clock) = (AssetOpener.Bounds(), AssetOpener.Bounds())
        processor.processorTime = .seconds(1)
        clock.time = .milliseconds(500)
        for bounds in [processor, clock] {
            let opener = try Opening.opener(bounds)
            let before = try Leftovers()
            let error = await failure { _ = try await opener.pixels(endless, manifest, page: 0, width: 100) }
            #expect(error == .unreadable("it takes too long to read"))
            try await Leftovers.expectNone(since: before)
        }
    }

    @Test func `Loops in a PDF end in a page or an error`() async throws {
        let opener = try Opening.opener()
        let form = SamplePDF.stream(
            "/N Do", "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /N 4 0 R >> >>")
        let files = [
            // A form that draws itself.
            SamplePDF.pages(
                ["/MediaBox [0 0 100 100]"], content: "/N Do", resources: "/XObject << /N 4 0 R >>", more: [form]),
            // A tree of pages whose leaf is its root.
            SamplePDF.file(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"]),
            // A box that is its own number.
            SamplePDF.file([
                "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
                "<< /Type /Page /Parent 3 0 R /MediaBox 4 0 R >>", "4 0 R",
            ]),
            // More pages than there are.
            SamplePDF.file([
                "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 2147483647 /Kids [3 0 R] >>",
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
            ]),
            // A page as large as a town.
            SamplePDF.pages(["/MediaBox [0 0 1e9 1e9]"]),
        ]
        let before = try Leftovers()
        for (number, file) in files.enumerated() {
            if let refusal = try await opener.refusal(file) {
                #expect(refusal.isOfFile, "file \(number): \(refusal)")
            } else {
                let manifest = try await opener.inspect(file)
                _ = await failure { _ = try await opener.pixels(file, manifest, page: 0, width: 100) }
            }
        }
        try await Leftovers.expectNone(since: before)
    }

    /// Runs a body with a program that does something else than to open files.
    private func withProgram(_ script: String, _ body: (AssetOpener) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("asset-child-\(UUID().uuidString)")
        try "#!/bin/sh\n\(script)\n".write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
        defer { try? FileManager.default.removeItem(at: file) }
        var bounds = AssetOpener.Bounds()
        bounds.time = .seconds(2)
        bounds.waiting = 0
        let before = try Leftovers()
        try await body(AssetOpener(program: file.path, bounds: bounds))
        try await Leftovers.expectNone(since: before)
    }

    private let image = SamplePNG.file(SampleImage(width: 2, height: 2) { _, _ in [1, 2, 3, 255] })

    @Test func `The reason is the child's answer, its exit or its silence`() async throws {
        for (script, error) in [
            // Stopped at the size of a right answer, and what it complains of takes no memory.
            ("exec yes", AssetError.unreadable("its reader writes without end")),
            ("exec yes >&2", .unreadable("it takes too long to read")),
            // Says nothing, or closes its output and stays.
            ("exec sleep 600", .unreadable("it takes too long to read")),
            ("exec sleep 600 >&- 2>&-", .unreadable("it takes too long to read")),
            ("echo first >&2; printf 'a\\tb' >&2; exit 1", .unreadable("a?b")),
            ("exit 1", .unreadable("its reader gives no reason")),
            ("echo no seccomp >&2; exit 167", .noSandbox("no seccomp")),
            ("kill -SEGV $$", .unreadable("its reader ended with signal 11")),
            ("kill -ABRT $$", .tooLarge("it needs too much memory")),
            ("exit 0", .unreadable("its reader gave no size")),
            ("echo 100000 100000", .unreadable("its reader gave no size")),
            ("echo 1e300 1e-300", .unreadable("its reader gave no size")),
            ("echo 10.5 10", .unreadable("its reader gave no size")),
            ("echo 0 10", .unreadable("its reader gave no size")),
            ("echo 9223372036854775807 1", .unreadable("its reader gave no size")),
        ] {
            try await withProgram(script) { opener in
                let refusal = try await opener.refusal(image)
                #expect(refusal == error, "\(script)")
            }
        }
    }

    @Test func `A program that cannot be started is no sandbox`() async throws {
        let refusal = try await AssetOpener(program: "/nonexistent").refusal(image)
        #expect(refusal == .noSandbox("no process can be started: No such file or directory"))
    }

    @Test
    func `A child whose result is no longer wanted is stopped; meanwhile no more wait than are allowed`() async throws {
        try await withProgram("exec sleep 600") { opener in
            let (image, before) = (image, try Leftovers().children)
            let task = Task { try await opener.refusal(image) }
            _ = try await eventually("there is a child") {
                try Leftovers().children.subtracting(before).isEmpty ? nil : true
            }
            let refusal = try await opener.refusal(image)
            #expect(refusal == .busy)
            task.cancel()
            #expect(try await task.value == .unreadable("it takes too long to read"))
        }
    }
}
