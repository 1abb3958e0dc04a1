import ArgumentParser
import StrokeWire

/// `lectern address`: where a room is.
struct AddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Print the address of a room.",
        discussion: """
            The address is the part that all subjects of a room begin with: the root, the room's partition, the room. \
            Clients treat it as an opaque prefix; everything else follows it, such as `.in.AUTHOR` for an author's \
            messages, `.out.COHORT` for what a cohort sees, `.head` for everything at once.

            Root and number of partitions must be those of the service; a running one tells the address of a room at \
            GET /api/rooms/ROOM, too.

            EXAMPLES
              lectern address lesson-7
              nats sub "$(lectern address lesson-7).out.main"
            """)

    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions

    func run() async throws {
        StandardOutput.write(subjects.address(of: room).description)
    }
}
