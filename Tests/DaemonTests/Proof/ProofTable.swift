import Foundation
import TestSupport

/// How ink and picture came together on a screen, by what happened before.
struct ProofTable: Sendable {
    /// A part of the class, from a time of day on, in milliseconds.
    struct Phase: Sendable {
        let name: String
        let start: Double
    }

    struct Row: Sendable, CustomStringConvertible {
        let phase: String
        let kind: ProofLesson.Kind
        /// Milliseconds from the moment in which a picture beyond its time was shown to that in which the ink was, sorted.
        var delays: [Double] = []
        /// Ink that was there before any such picture.
        var early = 0
        /// Ink whose picture was shown and that did not come.
        var missing = 0
        /// Whether it is of a time when something is away: ink is later then, and a pointer that is over is not seen.
        var isOfTrouble: Bool { phase.hasPrefix("while") }

        func delay(_ part: Double) -> Double {
            delays.isEmpty ? 0 : delays[min(Int(Double(delays.count) * part), delays.count - 1)]
        }

        var description: String {
            let figures = [0.5, 0.99, 1].map { String(format: "%.0f", delay($0)) }
            return "| \(phase) | \(kind.rawValue) | \(delays.count) | \(figures.joined(separator: " | ")) | \(early) |"
                + (missing > 0 ? " \(missing) missing" : "")
        }
    }

    static let head = """
        | | | number | p50 ms | p99 ms | most ms | early |
        |---|---|---|---|---|---|---|
        """

    private(set) var rows: [Row] = []

    /// - Parameters:
    ///   - log: what the page noted; moments are of its own clock, which began at `timeOrigin`.
    ///   - origins: the media time of the first picture of each encoder.
    init(
        _ marks: [ProofLesson.Mark], log: AnyJSON, timeOrigin: Double, origins: [Double], phases: [Phase]
    ) throws {
        guard case .array(let pictures)? = log["pictures"], case .array(let ink)? = log["ink"] else {
            throw Unexpected("no log")
        }
        func time(of picture: Int) -> Double {
            let encoder = picture >> 20 - 1
            guard origins.indices.contains(encoder) else { return -.infinity }
            return origins[encoder] + Double(picture & 0xfffff) * BarCodeVideo.pictureTime
        }
        // The first moments at which pictures were shown that are later than all before.
        var first: [(moment: Double, time: Double)] = []
        for case .array(let entry) in pictures {
            guard let moment = entry[0].double, let picture = entry[1].double else { continue }
            let time = time(of: Int(picture))
            if time > first.last?.time ?? -.infinity { first.append((moment, time)) }
        }
        var shown: [Int: Double] = [:]
        for case .array(let entry) in ink {
            guard let moment = entry[0].double, let number = entry[1].double else { continue }
            shown[Int(number)] = moment
        }
        for mark in marks {
            let place = first.partitioningIndex { $0.time > mark.time }
            guard place < first.count else { continue }
            // A pointer is not seen where the video jumps over its time.
            if mark.kind == .pointers, first[place].time > mark.time + 2 * BarCodeVideo.pictureTime { continue }
            let due = first[place].moment
            let phase = phases.last { $0.start <= due + timeOrigin }?.name ?? phases[0].name
            let row =
                rows.firstIndex { $0.phase == phase && $0.kind == mark.kind }
                ?? {
                    rows.append(Row(phase: phase, kind: mark.kind))
                    return rows.count - 1
                }()
            switch shown[mark.number] {
            // Times in playlists are whole milliseconds.
            case let moment?
            where moment < due && !first[..<place].contains { $0.time + 1 > mark.time && $0.moment <= moment }:
                rows[row].early += 1
                rows[row].delays.append(moment - due)
            case let moment?: rows[row].delays.append(max(moment - due, 0))
            // What was due a moment ago may be under way.
            case nil where due < first[first.count - 1].moment - 2000: rows[row].missing += 1
            case nil: break
            }
        }
        for row in rows.indices { rows[row].delays.sort() }
    }
}

extension Array {
    /// The place of the first element for which a condition holds that holds for all after it.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
