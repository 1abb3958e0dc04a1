import Foundation
import LecternHTTPClient
import StrokeWire

/// Follows the main cohort of a room and prints what is released to it: `follow-http ROOM [GATEWAY [UNTIL-INDEX]]`.
@main struct FollowHTTP {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let address = arguments.count > 2 ? arguments[2] : "http://127.0.0.1:8080/"
        guard arguments.count > 1, let room = RoomID(arguments[1]), let url = URL(string: address) else {
            fatalError("follow-http ROOM [GATEWAY [INDEX]]")
        }
        let last = arguments.count > 3 ? UInt64(arguments[3]) : nil

        let student = Student(gateway: try Gateway(url: url), room: room, cohort: .main)
        let playout = try await student.follow { event, playout in
            switch event {
            case .joined(_, let index, _, let visible):
                print("joined at \(index), \(visible) strokes")
            case .applied(let operation, _, _):
                print("\(operation.index) \(operation.action) by \(operation.author)")
            case .connection(.waiting(let error, let wait)):
                print("no connection, again in \(wait): \(error)")
            case .problem(let problem):
                print("problem: \(problem)")
            default:
                break
            }
            return last.map { playout.board.index < $0 } ?? true
        }
        print("the board has \(playout.board.visible.count) strokes, digest \(playout.board.digest)")
    }
}
