import NATSClient
import NATSTestServer

/// Sees every message that a cohort's students get, repeats too.
final class Witness: Sendable {
    struct Sighting: Sendable {
        let at: ContinuousClock.Instant
        let index: UInt64
        let room: String
        let author: String
        let reference: UInt64?
        let digest: String
        let isLate: Bool
        let body: [UInt8]
    }

    let cohort: String
    let video: Video
    private let seen = Locked<[Sighting]>([])

    init(_ connection: NATSConnection, address: String, cohort: String, video: Video) throws {
        self.cohort = cohort
        self.video = video
        _ = try connection.subscribe("\(address).out.\(cohort)") { [seen] message in
            let sighting = Sighting(
                at: .now, index: message.header("Ink-Index").flatMap { UInt64($0) } ?? 0,
                room: message.header("Ink-Room") ?? "", author: message.header("Ink-Author") ?? "",
                reference: message.header("Ink-Ref").flatMap { UInt64($0) },
                digest: message.header("Ink-Digest") ?? "", isLate: message.header("Ink-Late") == "1",
                body: message.copyPayload())
            seen.withLock { $0.append(sighting) }
        }
    }

    var sightings: [Sighting] { seen.withLock { $0 } }

    /// The last index seen, 0 before the first.
    var index: UInt64 { seen.withLock { $0.map(\.index).max() ?? 0 } }
}
