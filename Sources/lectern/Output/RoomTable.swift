import Foundation
import LecternClient

/// Rooms for people: a line each, in columns.
struct RoomTable {
    private let rooms: [RoomSummary]

    init(_ rooms: [RoomSummary]) {
        self.rooms = rooms
    }

    var text: String {
        guard !rooms.isEmpty else { return "no rooms" }
        let head = ["ROOM", "ADDRESS", "INDEX", "STROKES", "AUTHORS", "COHORTS"]
        let rows = [head] + rooms.map(row)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }
        .joined(separator: "\n")
    }

    private func row(_ room: RoomSummary) -> [String] {
        [
            room.room, room.address, "\(room.index)", room.visible.map { "\($0)" } ?? "-",
            room.asleep == true ? "-" : room.authors.map { "\($0)" } ?? "-",
            room.cohorts.map(cohort).joined(separator: ", "),
        ]
    }

    private func cohort(_ cohort: RoomSummary.Cohort) -> String {
        let video = cohort.video.map { String(format: "%.1f", $0 / 1000) } ?? "-"
        return "\(cohort.cohort) R=\(cohort.index) held=\(cohort.held) V=\(video)"
    }
}
