import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

/// A sweep that is cut off, as by `kill -9` of its daemon, and uses of assets while it goes on.
@Suite struct AssetSweepTests {
    private static let lifetime: Int64 = 10 * 86_400 * 1_000_000_000

    /// An asset that nobody has used for its lifetime, with a part of an upload that was cut off; one that was touched
    /// after the sweep had listed everything; one that is in use.
    private struct Assets {
        let unused, touched, used: SampleAsset
        /// What a sweep has listed.
        let listed: [AssetStore.Listed]
        /// When it goes on.
        let now: Int64

        init(_ test: TestStore) async throws {
            let used = try SampleAsset(5, 3)
            (unused, touched, self.used) = (try SampleAsset(300_000, 1), try SampleAsset(300_000, 2), used)
            try await test.save(unused)
            _ = try await test.jetStream.publish([0], to: "ink.assets.\(unused.id).torn.0")
            try await test.save(touched)
            try await test.save(used)
            listed = try await test.store.messages("ink.assets.>")
            let manifest = try #require(listed.last { $0.subject == used.manifestSubject })
            now = manifest.time + AssetSweepTests.lifetime
            let before = try await test.store.lastSequence()
            _ = try await test.store.touch(touched.id, at: now)
            try #require(try await test.store.lastSequence() == before + 1)
        }

        func sweep(_ test: TestStore) async throws -> Int { try await test.store.sweep(listed, at: now) }

        func checkKept(_ test: TestStore, _ what: Comment) async throws {
            #expect(try await test.store.bytes(of: touched.id) == touched.bytes, what)
            #expect(try await test.store.bytes(of: used.id) == used.bytes, what)
        }
    }

    private static func with(_ body: @Sendable (TestStore) async throws -> Void) async throws {
        try await TestStore.provisioned(maxAge: .seconds(8 * 86_400)) { test, _ in try await body(test) }
    }

    /// The messages that a whole sweep deletes, in its order, by their places among those that it has listed.
    private static func deletions() async throws -> [Int] {
        let deletions = Recorder<Int>()
        try await with { test in
            let assets = try await Assets(test)
            let sequences = assets.listed.map(\.sequence)
            let subject = "$JS.API.STREAM.MSG.DELETE.INK_ASSETS"
            _ = try test.jetStream.connection.subscribe(subject) { message in
                let request = try? JSONSerialization.jsonObject(with: Data(message.copyPayload())) as? [String: Any]
                let sequence = (request?["seq"] as? NSNumber)?.uint64Value ?? 0
                deletions.append(sequences.firstIndex(of: sequence) ?? -1)
            }
            try await test.jetStream.connection.flush()
            let deleted = try await assets.sweep(test)
            try await eventually("all deletions are seen", is: deletions.values.count == deleted)
            try await assets.checkKept(test, "a whole sweep")
        }
        return deletions.values
    }

    @Test func `Cut off after any step it leaves what is used whole, and the next one deletes the rest`() async throws {
        let deletions = try await Self.deletions()
        // A manifest, its two parts, the part of the upload that was cut off.
        try #require(deletions.count == 4 && !deletions.contains(-1))
        try await concurrently(0...deletions.count) { steps in
            try await Self.with { test in
                let assets = try await Assets(test)
                let what: Comment = "cut off after \(steps) of \(deletions)"
                for place in deletions.prefix(steps) {
                    try await test.jetStream.deleteMessage("INK_ASSETS", assets.listed[place].sequence)
                }
                try await assets.checkKept(test, what)
                // An asset is there as a whole, or not at all.
                let isThere = try await test.store.manifest(of: assets.unused.id) != nil
                #expect(isThere == (steps == 0), what)
                #expect(try await test.store.bytes(of: assets.unused.id) == (isThere ? assets.unused.bytes : nil), what)
                let rest = try await test.sweep(at: assets.now)
                #expect(rest == deletions.count - steps, what)
                #expect(try await test.store.messages("ink.assets.\(assets.unused.id).>").isEmpty, what)
                try await assets.checkKept(test, what)
            }
        }
    }

    @Test func `A later upload of a file is whole, whatever a cut-off sweep has left of it`() async throws {
        let deletions = try await Self.deletions()
        try await concurrently(0...deletions.count) { steps in
            try await Self.with { test in
                let assets = try await Assets(test)
                for place in deletions.prefix(steps) {
                    try await test.jetStream.deleteMessage("INK_ASSETS", assets.listed[place].sequence)
                }
                try await test.save(assets.unused)
                _ = try await test.sweep(at: day(1))
                #expect(try await test.store.bytes(of: assets.unused.id) == assets.unused.bytes, "after \(steps)")
            }
        }
    }
}
