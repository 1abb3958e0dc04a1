import Hosting
import Journal
import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import NATSClient

extension DaemonConfiguration {
    /// The settings of the whiteboard service.
    var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.root = subjects.root
        configuration.partitions = subjects.partitions
        configuration.room = room
        configuration.rooms = limits.rooms
        configuration.journal = journalSettings
        configuration.checkpoints = CheckpointSchedule(
            interval: checkpoint.interval, operations: checkpoint.operations)
        configuration.idle = rooms.idle
        if let name = node.id { configuration.name = name }
        configuration.palette = palette
        configuration.fanoutBytes = fanout.maxBytes
        configuration.style = ink.style
        configuration.canvasScale = canvas.scale
        configuration.canvasBytes = canvas.memory
        configuration.workers = server.workers
        configuration.mailboxBytes = server.mailboxBytes
        configuration.replies = server.replies
        return configuration
    }

    /// The streams that the daemon makes, nil without JetStream.
    private var journalSettings: JournalSettings? {
        guard journal.mode == .jetstream else { return nil }
        var settings = JournalSettings()
        settings.replicas = journal.replicas
        settings.maxAge = journal.maxAge
        settings.maxBytes = journal.maxBytes.map(Int64.init) ?? -1
        settings.duplicateWindow = journal.duplicateWindow
        return settings
    }

    /// The settings of the HTTP side, nil where it is off.
    var gatewayConfiguration: GatewayConfiguration? {
        http.listen.map {
            GatewayConfiguration(
                host: $0.host, port: $0.port, root: subjects.root, partitions: subjects.partitions)
        }
    }

    /// How a part of the daemon connects to `url`.
    func natsSettings(url: String, name: String) -> NATSSettings {
        var settings = NATSSettings(url: url, name: name)
        settings.credentialsFile = nats.credentials
        return settings
    }

    var logLevel: Logger.Level { Logger.Level(rawValue: logging.level.rawValue) ?? .info }
}
