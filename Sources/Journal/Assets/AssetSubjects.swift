import Assets
import StrokeWire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The name and the subjects of the stream of assets.
struct AssetSubjects: Sendable {
    /// The first tokens of all subjects.
    let root: String

    /// The stream, such as `INK_ASSETS`.
    var stream: String { PartitionStreams.stem(root) + "_ASSETS" }

    var all: String { "\(root).assets.>" }

    /// The subject of messages that fill damaged files; no asset has that name.
    var filler: String { "\(root).assets.FILLER" }

    func manifest(of id: AssetID) -> String { "\(root).assets.\(id).manifest" }

    /// - Parameter number: of the part, from 0.
    func part(_ number: Int, of manifest: StoredAssetManifest) -> String { "\(prefix(manifest)).\(number)" }

    /// The subjects of all parts that belong to a manifest.
    func parts(of manifest: StoredAssetManifest) -> String { "\(prefix(manifest)).*" }

    /// Whether the subject is that of a part that belongs to a manifest.
    func isPart(_ subject: String, of manifest: StoredAssetManifest) -> Bool {
        subject.hasPrefix("\(prefix(manifest)).")
    }

    /// That an asset was uploaded to a room. The token of parts has no hyphen.
    func record(of id: AssetID, in room: RoomID) -> String { "\(root).assets.\(id).in-room.\(room)" }

    func records(of room: RoomID) -> String { "\(root).assets.*.in-room.\(room)" }

    /// Whether the subject is that of such a record.
    func isRecord(_ subject: String) -> Bool {
        subject.dropFirst(root.count).split(separator: ".").dropFirst(2).first == "in-room"
    }

    func everything(of id: AssetID) -> String { "\(root).assets.\(id).>" }

    private func prefix(_ manifest: StoredAssetManifest) -> String {
        "\(root).assets.\(manifest.asset.id).\(manifest.upload)"
    }

    /// The asset that a subject belongs to; nil for other subjects.
    func asset(ofSubject subject: String) -> AssetID? {
        let tokens = subject.dropFirst(root.count).split(separator: ".")
        return tokens.count >= 3 ? AssetID(hexadecimal: tokens[1]) : nil
    }
}

/// A manifest as it is stored, with the place of the asset's parts.
struct StoredAssetManifest: Sendable, Equatable, Codable {
    static let currentVersion = 1

    var version = Self.currentVersion
    var asset: AssetManifest
    /// The token of the parts' subjects that is of one upload alone.
    var upload: String
    var parts: Int
}

extension StoredAssetManifest {
    func encoded() -> [UInt8] { HashedJSON.encode(self) }

    /// Whether a newer release has written it, for which its asset is there.
    static func isNewer(_ bytes: [UInt8]) -> Bool {
        struct Stamp: Decodable { var version: Int }
        return HashedJSON.decode(Stamp.self, from: bytes).map { $0.version > currentVersion } ?? false
    }

    /// Nil when the bytes are damaged, or of a newer release: the asset is not there for this one.
    init?(decoding bytes: [UInt8]) {
        guard let manifest = HashedJSON.decode(Self.self, from: bytes), manifest.version == Self.currentVersion,
            manifest.parts > 0, manifest.parts <= manifest.asset.bytes,
            !manifest.upload.isEmpty, manifest.upload.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return nil }
        self = manifest
    }
}

/// The machine's wall clock.
public enum WallClock {
    /// Nanoseconds since 1970.
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
