import StrokeWire

/// The page at `/`: the rooms, with links to their states and pictures.
struct IndexPage {
    let rooms: [RoomSummary]
    /// Why there is no list of rooms, or not a whole one; nil when there is.
    let notice: String?

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Lectern</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1.5rem .2rem 0 }
        </style>
        <h1>Lectern</h1>
        <p><a href="/api/rooms">Rooms as JSON</a>, <a href="/metrics">metrics</a>, <a href="/healthz">health</a>,
        <a href="/readyz">readiness</a></p>
        <h2>Rooms</h2>
        \(list)
        </html>

        """
    }

    private var list: String {
        let notice = notice.map { "<p>\(Self.escaped($0))</p>\n" } ?? ""
        if rooms.isEmpty { return notice.isEmpty ? "<p>Nobody has written to a room yet.</p>" : notice }
        return """
            \(notice)<table>
            <tr><th>room<th>address<th>operations<th>strokes<th>pictures
            \(rooms.map(row).joined(separator: "\n"))
            </table>
            """
    }

    private func row(_ room: RoomSummary) -> String {
        let name = Self.escaped(room.room)
        let pictures = room.cohorts.map { cohort in
            let cohort = Self.escaped(cohort.cohort)
            return "<a href=\"/rooms/\(name)/board.png?cohort=\(cohort)\">\(cohort)</a>"
        }
        return """
            <tr><td><a href="/api/rooms/\(name)">\(name)</a><td>\(Self.escaped(room.address))<td>\(room.index)\
            <td>\(room.visible.map(String.init) ?? "hibernated")<td>\(pictures.joined(separator: ", "))
            """
    }

    /// Text escaped for HTML, also inside attribute values.
    static func escaped(_ text: String) -> String {
        // Well-formed names have none of these.
        guard text.utf8.contains(where: { "&<>\"'".utf8.contains($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
