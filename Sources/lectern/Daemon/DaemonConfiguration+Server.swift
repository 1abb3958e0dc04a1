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
