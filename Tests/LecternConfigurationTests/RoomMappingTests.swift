import LecternConfiguration
import StrokeWire
import Testing
import Whiteboard

@Suite("Settings of rooms") struct RoomMappingTests {
    @Test("The defaults are the defaults of a room")
    func defaults() {
        #expect(DaemonConfiguration().room == RoomConfiguration())
    }

    @Test("The size of the palette is the range of colours")
    func palette() throws {
        var configuration = DaemonConfiguration()
        configuration.palette = try #require(Palette(["#000000", "#ffffff"]))
        #expect(configuration.room.intake.wire.colours == .palette(count: 2))
        configuration.colour = .rgb
        #expect(configuration.room.intake.wire.colours == .rgb)
    }

    @Test("A board size is given or left to the first draw")
    func boardSize() throws {
        #expect(DaemonConfiguration().boardSize == nil)
        let arguments = ["board.width": "800", "board.height": "600.5"]
        #expect(
            try DaemonConfiguration.load(file: nil, arguments: arguments).room.boardSize
                == BoardSize(width: 800, height: 600.5))
    }

    @Test("Every setting of a room arrives there")
    func everything() throws {
        let arguments = [
            "limits.message_bytes": "128KiB", "limits.shards": "2", "limits.points": "3", "limits.assembling": "4",
            "limits.held": "5", "limits.pending_bytes": "6MiB", "limits.authors": "7", "limits.author_idle": "8s",
            "limits.messages_per_second": "9", "limits.bytes_per_second": "10MiB", "limits.number_lead": "11",
            "limits.board_points": "12", "history.scope": "author", "history.depth": "13", "history.clear": "undoable",
            "cohorts.open": "false", "cohorts.maximum": "14", "cohorts.default.gate": "none",
            "cohorts.default.policy": "hold", "cohorts.default.max_hold": "15s", "cohorts.default.stale_after": "16s",
            "cohorts.default.extrapolate": "false", "log.tail": "17", "log.tail_bytes": "19MiB",
            "log.held_bytes": "18MiB",
        ]
        let expected = RoomConfiguration(
            intake: IntakeLimits(
                wire: WireLimits(messageBytes: 131_072, shards: 2, points: 3), assembling: 4, held: 5,
                pendingBytes: 6 << 20, authors: 7, authorIdle: .seconds(8), messagesPerSecond: 9,
                bytesPerSecond: 10 << 20, numberLead: 11, boardPoints: 12),
            history: HistoryConfiguration(scope: .author, depth: 13, clear: .undoable),
            cohorts: CohortsConfiguration(
                defaults: CohortSettings(
                    gate: .none, policy: .hold, maxHold: .seconds(15), staleAfter: .seconds(16), extrapolate: false),
                open: false, maximum: 14),
            log: LogRetention(tail: 17, tailBytes: 19 << 20, heldBytes: 18 << 20))
        #expect(try DaemonConfiguration.load(file: nil, arguments: arguments).room == expected)
    }
}
