import ArgumentParser
import AssetOpener

/// The program: the daemon, and clients to try it with.
@main
struct Lectern: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lectern",
        abstract: "Keeps a class's whiteboard in step with its video.",
        discussion: """
            Teachers publish strokes to NATS. Lectern orders them, keeps the board of each room, holds every operation \
            until the students' video has reached its time, and then sends it to the students of the room.

            To see it work, with nothing else running:
              lectern demo

            `lectern help COMMAND` describes each command.
            """,
        version: version,
        subcommands: [
            DemoCommand.self, ServeCommand.self, CheckCommand.self, PublishCommand.self, ClockCommand.self,
            WatchCommand.self,
            ReplayCommand.self,
            LessonCommand.self, RenderCommand.self, ExportCommand.self, ImportCommand.self, BackupCommand.self,
            RestoreCommand.self, RepartitionCommand.self, AddressCommand.self,
            RoomsCommand.self, MuteCommand.self, UnmuteCommand.self, CloseCommand.self, EraseCommand.self,
            AuditCommand.self,
            TokenCommand.self, RevokeCommand.self,
        ])

    /// The release. `CHANGELOG.md` says what each brings; `config/debian/changelog` and the HTTP description name it too.
    static let version = "0.2.0"

    /// Runs the command, or opens a file for a daemon, whose child this process then is.
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == AssetOpener.command { AssetOpener.runChild(arguments.dropFirst()) }
        await main(nil)
    }
}
