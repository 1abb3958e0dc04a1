import LecternConfiguration
import StrokeWire
import Testing
import Whiteboard

@Suite("Which source wins") struct PrecedenceTests {
    static let file = """
        limits:
          shards: 10
          authors: 10
          held: 10
        """

    @Test("An argument wins over the environment, that over the file, that over the default")
    func order() throws {
        let limits = try load(
            file: Self.file, environment: ["LECTERN_LIMITS_SHARDS": "20", "LECTERN_LIMITS_AUTHORS": "20"],
            arguments: ["limits.shards": "30"]
        ).limits.intake
        #expect(limits.wire.shards == 30)
        #expect(limits.authors == 20)
        #expect(limits.held == 10)
        #expect(limits.assembling == IntakeLimits().assembling)
    }

    @Test("Without any source, the defaults are in force")
    func defaults() throws {
        #expect(try DaemonConfiguration.load(file: nil) == DaemonConfiguration())
    }

    @Test(
        "A file without any key is a file of defaults", arguments: ["", "\n\n", "# nothing\n", "{}", "limits:\n", "~"])
    func emptyFile(contents: String) throws {
        #expect(try load(file: contents) == DaemonConfiguration())
    }

    @Test("A bad value that is not in force stops nothing")
    func shadowed() throws {
        let configuration = try load(file: "limits:\n  shards: many", environment: ["LECTERN_LIMITS_SHARDS": "20"])
        #expect(configuration.limits.intake.wire.shards == 20)
    }

    @Test("A palette is a list in the file and has commas elsewhere")
    func palettes() throws {
        let two = try #require(Palette(["#000000", "#FFffff"]))
        #expect(try load(file: "palette: [\"#000000\", \"#FFffff\"]").palette == two)
        #expect(try load(file: "palette:\n- '#000000'\n- '#ffffff'").palette == two)
        #expect(try load(file: "", environment: ["LECTERN_PALETTE": "#000000,#ffffff"]).palette == two)
        #expect(try load(file: "", arguments: ["palette": "#000000,#ffffff"]).palette == two)
    }

    @Test("A dotted key may stand in one line")
    func dotted() throws {
        #expect(try load(file: "limits.shards: 12").limits.intake.wire.shards == 12)
    }

    @Test("Variables that Kubernetes sets beside a service called lectern, and those of others, are passed over")
    func foreignVariables() throws {
        let environment = [
            "LECTERN_SERVICE_HOST": "10.0.0.1", "LECTERN_SERVICE_PORT_HTTP": "80", "LECTERN_PORT": "tcp://10.0.0.1:80",
            "LECTERN_PORT_80_TCP_ADDR": "10.0.0.1", "PATH": "/bin", "LECTERNS": "2", "lectern_limits_shards": "x",
        ]
        #expect(try DaemonConfiguration.load(file: nil, environment: environment) == DaemonConfiguration())
    }
}
