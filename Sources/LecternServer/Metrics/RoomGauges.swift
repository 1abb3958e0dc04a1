import Hosting
import StrokeWire
import Whiteboard

/// What the rooms of one worker add to gauges that all rooms share, so that each adds only what has changed.
struct RoomGauges {
    private struct Reported {
        var depth: [CohortName: Int] = [:]
        var assembling = 0
    }

    private var rooms: [RoomID: Reported] = [:]

    mutating func report(_ hosted: HostedRoom, _ metrics: ServerMetrics) {
        guard let room = hosted.room else { return }
        if rooms[hosted.id] == nil { metrics.countRooms(1) }
        var reported = rooms.removeValue(forKey: hosted.id) ?? Reported()
        room.forEachCohort { cohort, held in
            let change = held - reported.depth[cohort, default: 0]
            guard change != 0 else { return }
            reported.depth[cohort] = held
            metrics.addDepth(change, of: cohort)
        }
        let assembling = room.assemblingCount
        if assembling != reported.assembling {
            metrics.addAssembling(assembling - reported.assembling)
            reported.assembling = assembling
        }
        rooms[hosted.id] = reported
    }

    mutating func forget(_ hosted: HostedRoom, _ metrics: ServerMetrics) {
        guard let reported = rooms.removeValue(forKey: hosted.id) else { return }
        metrics.countRooms(-1)
        for (cohort, depth) in reported.depth where depth != 0 { metrics.addDepth(-depth, of: cohort) }
        if reported.assembling != 0 { metrics.addAssembling(-reported.assembling) }
    }
}
