import StrokeWire
import VectorGraphics
import Whiteboard

/// Pictures of a room's pages up to their last lasso, so that neither a new stroke nor a lasso more cuts again what is cut.
///
/// A scene is known by the entries that it is made of. Bounded in number and in bytes; the newest is kept in any case.
struct SceneCache: Sendable {
    /// Scenes at most: those of some pages, and of some undos back.
    private static let countLimit = 4

    private let byteLimit: Int
    /// The least recently used first.
    private var scenes: [(digest: UInt64, scene: PageScene)] = []
    private(set) var byteCount = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The scene of the most of the lowest entries; nil where none of them is kept.
    /// - Parameter digests: of the entries from the lowest one up to each.
    mutating func scene(below digests: [UInt64]) -> PageScene? {
        let found = scenes.indices.filter { place in
            let (digest, scene) = scenes[place]
            return scene.entryCount <= digests.count && scene.entryCount > 0
                && digests[scene.entryCount - 1] == digest
        }
        guard let longest = found.max(by: { scenes[$0].scene.entryCount < scenes[$1].scene.entryCount }) else {
            return nil
        }
        let entry = scenes.remove(at: longest)
        scenes.append(entry)
        return entry.scene
    }

    /// Keeps a scene.
    /// - Parameter digest: of its entries.
    mutating func keep(_ scene: PageScene, digest: UInt64) {
        guard scene.entryCount > 0 else { return }
        scenes.removeAll { $0.digest == digest }
        scenes.append((digest, scene))
        byteCount = scenes.reduce(0) { $0 + $1.scene.byteCount }
        while scenes.count > 1, scenes.count > Self.countLimit || byteCount > byteLimit {
            byteCount -= scenes.removeFirst().scene.byteCount
        }
    }
}

/// A digest of a list of numbers, one after the other.
struct ListDigest: Sendable {
    private var hash = FNV1a64()

    var value: UInt64 { splitMix64Finalizer(hash.value) }

    mutating func add(_ number: UInt64) { hash.add(splitMix64Finalizer(number)) }
}
