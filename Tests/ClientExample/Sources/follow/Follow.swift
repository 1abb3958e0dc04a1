import LecternClient
import Logging
import NATSClient
import StrokeWire

/// Joins the main cohort of a room and prints what is released to it: `follow ROOM [SERVER [UNTIL-INDEX]]`.
@main struct Follow {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let room = RoomID(arguments[1]) else { fatalError("follow ROOM [SERVER [INDEX]]") }
        let server = arguments.count > 2 ? arguments[2] : "nats://127.0.0.1:4222"
        let last = arguments.count > 3 ? UInt64(arguments[3]) : nil

        let logger = Logger(label: "follow") { StreamLogHandler.standardError(label: $0) }
        let connection = NATSConnection(NATSSettings(url: server, name: "follow"), logger: logger)
        try await connection.connect()
        let address = RoomAddress(root: "ink", room: room, partitions: 1)
        let student = Student(connection: connection, address: address, cohort: .main, logger: logger)
        let session = try await student.follow { event, session in
            switch event {
            case .joined(_, let index, _, let visible):
                print("joined at \(index), \(visible) strokes")
            case .applied(let operation, _, _):
                print("\(operation.index) \(operation.action) by \(operation.author)")
            case .wet:
                break
            case .problem(let problem):
                print("problem: \(problem)")
            }
            return last.map { session.board.index < $0 } ?? true
        }
        await connection.close()
        print("the board has \(session.board.visible.count) strokes, digest \(session.digest)")
    }
}
