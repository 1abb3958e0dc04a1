import Foundation
public import Hosting

extension Announcement: Codable {
    private enum CodingKeys: String, CodingKey {
        case version = "v"
        case member = "id"
        case serving
        case isLeaving = "leaving"
        case isJoining = "joining"
        case partitions
        case journal
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            member: try container.decode(String.self, forKey: .member),
            serving: Set(try container.decode([Int].self, forKey: .serving)),
            isLeaving: try container.decodeIfPresent(Bool.self, forKey: .isLeaving) ?? false,
            isJoining: try container.decodeIfPresent(Bool.self, forKey: .isJoining) ?? false,
            settings: CommonSettings(
                partitions: try container.decodeIfPresent(Int.self, forKey: .partitions),
                journal: try container.decodeIfPresent(String.self, forKey: .journal)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .version)
        try container.encode(member, forKey: .member)
        try container.encode(serving.sorted(), forKey: .serving)
        try container.encode(isLeaving, forKey: .isLeaving)
        try container.encode(isJoining, forKey: .isJoining)
        try container.encodeIfPresent(settings.partitions, forKey: .partitions)
        try container.encodeIfPresent(settings.journal, forKey: .journal)
    }

    /// `{"id":"a","joining":false,"journal":"jetstream","leaving":false,"partitions":1,"serving":[0],"v":1}`
    func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers, booleans and strings always encode.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// nil for what is no announcement.
    init?(decoding bytes: [UInt8]) {
        guard let announcement = try? JSONDecoder().decode(Announcement.self, from: Data(bytes)) else { return nil }
        self = announcement
    }
}
