internal import StrokeWire

/// Pictures of a room's pages up to their last lasso, or in documents their last eraser, so that neither a new stroke nor a lasso
/// more cuts again what is cut.
///
/// A scene is known by the entries that it is made of. Bounded in number and in bytes; the newest is kept in any case.
public struct SceneCache: Sendable {
    /// Scenes at most: those of the pages of a document, and of some undos back.
    private static let countLimit = 64

    private let byteLimit: Int
    /// The least recently used first.
    private var scenes: [(digest: UInt64, scene: PageScene)] = []
    public private(set) var byteCount = 0
    private var skippedCount = 0

    public init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// What the lassos among the entries of a page have made of all up to the last one. What is there when it is stopped is
    /// kept.
    ///
    /// - Parameters:
    ///   - count: of the lowest entries that are cut; those up to the last lasso unless said.
    ///   - width, height: of the board in its units.
    ///   - limits: what lassos may make of a page.
    ///   - check: called before each entry; may throw to stop.
    public mutating func scene<Failure: Error>(
        of entries: some PageEntries, lowest count: Int? = nil, width: Double, height: Double,
        limits: DisplayList.Limits, check: () throws(Failure) -> Void
    ) throws(Failure) -> PageScene {
        let count = count ?? (0..<entries.count).last { entries.isLasso($0) }.map { $0 + 1 } ?? 0
        let blank = PageScene(width: width, height: height, limits: limits)
        guard count > 0 else { return blank }
        var digest = ListDigest()
        let digests = (0..<count).map { place in
            digest.add(entries.id(place))
            return digest.value
        }
        var scene = self.scene(below: digests) ?? blank
        if !scene.isOf(width, height) { scene = blank }
        guard scene.entryCount < count else { return scene }
        let skippedBefore = scene.skippedEntries.count
        defer {
            skippedCount += scene.skippedEntries.count - skippedBefore
            if scene.entryCount > 0 { keep(scene, digest: digests[scene.entryCount - 1]) }
        }
        while scene.entryCount < count {
            try check()
            scene.add(id: entries.id(scene.entryCount)) { entries.content($0) }
        }
        return scene
    }

    /// The number of lassos and erasers that were not applied since the last call.
    public mutating func takeSkippedCount() -> Int {
        defer { skippedCount = 0 }
        return skippedCount
    }

    /// The scene of the most of the lowest entries; nil where none of them is kept.
    /// - Parameter digests: of the entries from the lowest one up to each.
    private mutating func scene(below digests: [UInt64]) -> PageScene? {
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

    private mutating func keep(_ scene: PageScene, digest: UInt64) {
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
