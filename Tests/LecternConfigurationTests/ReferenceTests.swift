import Testing

@testable import LecternConfiguration

@Suite("The reference and the listing") struct ReferenceTests {
    @Test(
        "The reference tells of every key its range, default and variable",
        arguments: DaemonConfiguration.settings.map(\.key))
    func reference(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let entry = try #require(
            DaemonConfiguration.reference.split(separator: "\n\n").first { $0.hasPrefix(key + "\n") })
        #expect(entry.contains("(\(setting.range))"))
        #expect(entry.contains("default \(setting.text(DaemonConfiguration()))") || entry.contains("default \"\""))
        #expect(entry.hasSuffix(SettingKeys.variable(key)))
        #expect(setting.meaning.hasSuffix("."))
    }

    @Test("The listing has every value in force, and no password")
    func listing() throws {
        let configuration = try DaemonConfiguration.load(
            file: nil,
            arguments: ["nats.url": "nats://me:s3cret@host:1", "limits.shards": "5", "cohorts.hls.max_hold": "1m"])
        let lines = configuration.listing.split(separator: "\n")
        #expect(lines.count == DaemonConfiguration.keys.count + 5)
        #expect(lines.contains("nats.url = nats://***@host:1"))
        #expect(lines.contains("limits.shards = 5"))
        #expect(lines.contains("nats.credentials = \"\""))
        #expect(lines.contains("cohorts.hls.max_hold = 1m"))
        #expect(!configuration.listing.contains("s3cret"))
    }

    @Test("A default in the reference is an allowed value", arguments: DaemonConfiguration.settings.map(\.key))
    func defaults(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        var configuration = DaemonConfiguration()
        try setting.assign(setting.text(configuration), &configuration)
        #expect(configuration == DaemonConfiguration())
    }
}
