import Hosting
import Journal
import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import NATSClient
import StrokeWire
import Whiteboard

extension DaemonConfiguration {
    /// The settings of the whiteboard service.
    var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.root = subjects.root
        configuration.partitions = subjects.partitions
        configuration.room = room
        configuration.rooms = limits.rooms
        configuration.storedRooms = limits.storedRooms
        configuration.hibernatedBytes = limits.hibernatedBytes
        configuration.journal = journalSettings
        configuration.assetBytes = assets.maxBytes.map(Int64.init) ?? -1
        configuration.roomAssetBytes = assets.roomBytes.map(Int64.init) ?? -1
        configuration.auditBytes = Int64(audit.maxBytes)
        configuration.auditAge = audit.maxAge
        configuration.checkpoints = CheckpointSchedule(
            interval: checkpoint.interval, operations: checkpoint.operations)
        configuration.idle = rooms.idle
        if let name = node.id { configuration.name = name }
        configuration.palette = palette
        configuration.style = ink.style
        configuration.tip = ink.tip
        configuration.canvasScale = canvas.scale
        configuration.canvasBytes = canvas.memory
        configuration.workers = server.workers
        configuration.mailboxBytes = server.mailboxBytes
        configuration.replyBytes = server.replyBytes
        return configuration
    }

    /// The streams that the daemon makes, nil without JetStream.
    private var journalSettings: JournalSettings? {
        guard journal.mode == .jetstream else { return nil }
        var settings = JournalSettings()
        settings.replicas = journal.replicas
        settings.maxAge = journal.maxAge
        settings.maxBytes = journal.maxBytes.map(Int64.init) ?? -1
        settings.storeBytes = journal.storeBytes.map(Int64.init) ?? -1
        settings.recreatesStreams = journal.recreatesStreams
        return settings
    }

    /// The settings of the HTTP side, nil where it is off. Reads the key of tokens and the translations of the pages.
    var gatewayConfiguration: GatewayConfiguration? {
        get async throws {
            guard let listen = http.listen ?? http.admin else { return nil }
            // Then health and metrics are all there is.
            let isAdmin = http.listen == nil
            var gateway = GatewayConfiguration(
                host: listen.host, port: listen.port, root: subjects.root, partitions: subjects.partitions)
            if !isAdmin, let admin = http.admin { gateway.admin = .init(host: admin.host, port: admin.port) }
            gateway.basePath = http.basePath
            gateway.allowedOrigins = http.allowedOrigins
            gateway.trustedProxies = http.trustedProxies.compactMap { AddressRange($0) }
            gateway.mediaOrigins = http.mediaOrigins
            if let folder = http.languages { gateway.languages = try SiteLanguages(folder: folder) }
            gateway.readerBuffer = http.readerBuffer
            gateway.skewAlarm = http.skewAlarm
            gateway.posts = PostLimits(
                messagesPerSecond: room.intake.messagesPerSecond, bytesPerSecond: room.intake.bytesPerSecond,
                messageBytes: room.intake.wire.messageBytes)
            gateway.servesRooms = node.roles.contains(.gateway) && !isAdmin
            gateway.isAlone = !node.roles.contains(.core)
            switch (authentication.mode, authentication.secretFile, authentication.publicKeyFile) {
            case _ where isAdmin: gateway.access = .open(anyHost: true)
            case (.token, let file?, _): gateway.access = .tokens(try await .secret(file: file))
            case (.token, _, let file?): gateway.access = .tokens(try await .publicKey(file: file))
            default: gateway.access = .open(anyHost: authentication.isInsecure)
            }
            return gateway
        }
    }

    /// How the whiteboard service connects to `url`. Clients can neither read its answers nor forge them.
    func serviceConnection(to url: String) -> NATSSettings {
        var settings = natsSettings(url: url, name: "lectern service", user: nats.user, password: nats.password)
        settings.inboxPrefix = nats.inboxPrefix
        return settings
    }

    /// How the HTTP side connects to `url`: as any client, since the service answers on `_INBOX` alone.
    func gatewayConnection(to url: String) -> NATSSettings {
        var settings =
            if let user = nats.gatewayUser {
                natsSettings(url: url, name: "lectern gateway", user: user, password: nats.gatewayPassword)
            } else {
                natsSettings(url: url, name: "lectern gateway", user: nats.user, password: nats.password)
            }
        settings.inboxPrefix = "_INBOX.gateway"
        return settings
    }

    private func natsSettings(url: String, name: String, user: String?, password: String?) -> NATSSettings {
        var settings = NATSSettings(url: url, name: name)
        settings.user = user
        settings.password = password
        settings.credentialsFile = nats.credentials
        settings.tls.authorityFile = nats.authority
        settings.tls.certificateFile = nats.certificate
        settings.tls.keyFile = nats.key
        return settings
    }

    var logLevel: Logger.Level { Logger.Level(rawValue: logging.level.rawValue) ?? .info }

    var logFormat: DaemonLog.Format {
        switch logging.format {
        case .text: .text
        case .json: .json
        }
    }
}
