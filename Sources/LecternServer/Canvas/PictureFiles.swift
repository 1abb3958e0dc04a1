import StrokeWire
import Whiteboard

/// Encoded pictures, the ones not asked for longest given up first.
///
/// Bounded by their bytes; a picture larger than that is not kept.
struct PictureFiles: Sendable {
    /// What a picture shows: the same name is the same picture, whichever cohort is shown it.
    struct Name: Sendable, Hashable {
        let room: PictureSubject.RoomLife
        let digest: BoardDigest
        /// Of the canvas.
        let pixels: SIMD2<Int>
        let width: Int?
    }

    private struct File {
        let bytes: [UInt8]
        var lastUse: Instant
    }

    private let byteLimit: Int
    private var files: [Name: File] = [:]
    private(set) var byteCount = 0
    var isEmpty: Bool { files.isEmpty }

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The picture, which counts as a use.
    mutating func file(_ name: Name, at now: Instant) -> [UInt8]? {
        guard let index = files.index(forKey: name) else { return nil }
        files.values[index].lastUse = now
        return files.values[index].bytes
    }

    mutating func keep(_ bytes: [UInt8], _ name: Name, at now: Instant) {
        guard files[name] == nil, bytes.count <= byteLimit else { return }
        while byteCount + bytes.count > byteLimit,
            let oldest = files.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
        files[name] = File(bytes: bytes, lastUse: now)
        byteCount += bytes.count
    }

    /// Gives up what nobody asked for since `instant`.
    mutating func giveBack(unusedSince instant: Instant) {
        for (name, file) in files where file.lastUse < instant { remove(name) }
    }

    private mutating func remove(_ name: Name) {
        if let file = files.removeValue(forKey: name) { byteCount -= file.bytes.count }
    }
}
