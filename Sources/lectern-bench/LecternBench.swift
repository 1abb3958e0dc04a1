import ArgumentParser

/// Measures the parts that have to be fast. Figures of one run may be compared with each other, not with another run's.
@main
struct LecternBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lectern-bench",
        abstract: "Measure the parts of Lectern that have to be fast.",
        subcommands: [RoomBench.self, RoomsBench.self, RasterBench.self])
}
