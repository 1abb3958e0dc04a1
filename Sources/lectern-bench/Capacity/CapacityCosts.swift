import Foundation
import StrokeWire

/// What was measured: processor time in seconds, memory and disk in bytes.
struct CapacityCosts {
    /// With JetStream and without; of an operation with one cohort, and of each more.
    var journaled = OperationCosts()
    var unjournaled = OperationCosts()
    /// With JetStream, of the daemon and of the NATS server, for an operation to one cohort that comes alone.
    var loneOperation = 0.0
    var serverLoneOperation = 0.0
    /// Of the daemon and of the NATS server, for the note and the mark of a room in a second in which it is written to.
    var note = 0.0
    var serverNote = 0.0
    /// Of the daemon and of the NATS server, for a clock sample.
    var sample = 0.0
    var serverSample = 0.0
    /// The same for one of 256 in a message.
    var sharedSample = 0.0
    var serverSharedSample = 0.0
    /// Of daemon and gateway together, for an event to a reader and for a join that shares a board with others.
    var event = 0.0
    var join = 0.0
    /// The same of many who come at once.
    var joinAtOnce = 0.0
    /// For the first join of a room.
    var firstJoin = 0.0
    /// Of the NATS server for a message to a subscriber with a connection of its own, and to one of many on a connection.
    var delivery = 0.0
    var sharedDelivery = 0.0
    /// A daemon without rooms.
    var daemon = 0.0
    /// What it keeps after many strokes at once, beside its rooms.
    var burst = 0.0
    var roomInUse = 0.0
    var roomAtRest = 0.0
    var reader = 0.0
    /// In the log, with NATS's own bytes.
    var logged = 0.0
    /// Of a room, in the stream of checkpoints.
    var checkpoint = 0.0

    struct OperationCosts {
        var operation = 0.0
        var cohort = 0.0
        /// Of the NATS server, with one cohort.
        var server = 0.0
    }

    /// In microseconds or kilobytes.
    struct Cost {
        let name: String
        let value: Double
        let unit: String
        let text: String
        /// The most that is good, in the same unit; nil where there is none.
        let goal: Double?
        let method: String

        var goalText: String {
            goal.map { Goal(bound: .atMost, value: $0).text(for: value, unit: " \(unit)") } ?? ""
        }
    }

    /// Each with how it was measured.
    var listed: [Cost] {
        func time(_ name: String, _ seconds: Double, _ method: String, atMost goal: Double? = nil) -> Cost {
            Cost(name: name, value: seconds * 1e6, unit: "µs", text: Figure.time(seconds), goal: goal, method: method)
        }
        func size(_ name: String, _ bytes: Double, _ method: String, atMost goal: Double? = nil) -> Cost {
            Cost(name: name, value: bytes / 1000, unit: "kB", text: Figure.bytes(bytes), goal: goal, method: method)
        }
        typealias Load = CapacityMeasurement
        let operations = "\(Load.rooms) rooms, strokes of 14 points as fast as they get through"
        let paced = Figure.grouped(Load.slowRooms)
        let alone = "\(paced) strokes of 14 points a second, one after another"
        let notes = "as many in \(paced) rooms: what one costs more than in \(Load.rooms) rooms; with a mark"
        let more = "the same with \(Load.cohorts) cohorts"
        let clocks =
            "\(Figure.grouped(Load.clocks)) rooms with 4 samples a second, marks and a stroke each 10 s with them; journal none"
        let shared = "the same, samples of \(ClockBatch.roomLimit) rooms in a message"
        let steady =
            "\(Load.readers) readers of a room, 20 strokes of 30 points a second; with the daemon's part; the floor is NATS's message to a subscriber"
        let joins = "\(Load.readers) in 10 s over HTTP, a board of 999 strokes each in gzip; with the daemon's part"
        let fan = "\(FanOut.subscribers) subscribers, \(FanOut.rate) messages of \(FanOut.size) bytes a second"
        let memory = "resident, \(Load.boards) rooms of \(Load.strokes) strokes with 14 points, after as many others"
        return [
            time("daemon, JetStream: an operation to one cohort", journaled.operation, operations),
            time("daemon, JetStream: … to each more cohort", journaled.cohort, more),
            time("daemon, JetStream: an operation that comes alone", loneOperation, alone),
            time("daemon: a room's note, a second with operations", note, notes, atMost: 25),
            time("daemon, journal none: an operation to one cohort", unjournaled.operation, operations),
            time("daemon, journal none: … to each more cohort", unjournaled.cohort, more),
            time("daemon: a clock sample", sample, clocks, atMost: 5),
            time("daemon: … with others in a message", sharedSample, shared, atMost: 5),
            time("gateway: an event to a reader", event, steady, atMost: 4),
            time("gateway: a join", join, joins, atMost: 300),
            time("gateway: … of many at once", joinAtOnce, "the same, as fast as they can be sent"),
            time("gateway: the first join of a room", firstJoin, "\(EventLoad.firstJoins) rooms with such a board"),
            time("NATS, JetStream: an operation to one cohort", journaled.server, operations),
            time("NATS, JetStream: an operation that comes alone", serverLoneOperation, alone),
            time("NATS: a room's note", serverNote, notes, atMost: 10),
            time("NATS, journal none: an operation to one cohort", unjournaled.server, operations),
            time("NATS: a clock sample", serverSample, clocks),
            time("NATS: … with others in a message", serverSharedSample, shared),
            time("NATS: a message to a subscriber", delivery, fan + ", a connection each"),
            time("NATS: a message on a connection of many", sharedDelivery, fan + ", one connection"),
            size("a daemon without rooms", daemon, "resident"),
            size("a daemon after a burst", burst, "resident, what the others of the next row take more"),
            size("a room in use", roomInUse, memory, atMost: 120),
            size("a room at rest in memory", roomAtRest, "all of these, \(Int(Load.resting)) s after the last stroke"),
            size("a reader over HTTP", reader, "resident, \(Load.readers) readers", atMost: 24),
            size("an operation in the log", logged, "the stream's bytes by its messages, strokes of 14 points"),
            size(
                "a room's checkpoint", checkpoint, "the stream's bytes by rooms, \(Load.strokes) strokes; two are kept"),
        ]
    }
}

/// Numbers as people read them.
enum Figure {
    /// With two significant digits, or as many as there are before the point.
    static func short(_ value: Double) -> String {
        guard value.isFinite, value != 0 else { return value == 0 ? "0" : "?" }
        var (rounded, unit) = (abs(value), 1.0)
        while rounded / unit >= 100 { unit *= 10 }
        while rounded / unit < 10 { unit /= 10 }
        rounded = (rounded / unit).rounded() * unit
        let sign = value < 0 ? "-" : ""
        guard rounded >= 10 else {
            var text = String(format: "%.\(rounded >= 1 ? 1 : rounded >= 0.1 ? 2 : 3)f", rounded)
            while text.hasSuffix("0") { text.removeLast() }
            if text.hasSuffix(".") { text.removeLast() }
            return sign + text
        }
        return sign + grouped(Int(rounded.rounded()))
    }

    /// With a comma between thousands.
    static func grouped(_ value: Int) -> String {
        value < 1000 ? "\(value)" : grouped(value / 1000) + "," + String(format: "%03d", value % 1000)
    }

    static func time(_ seconds: Double) -> String {
        seconds >= 1e-3 ? "\(short(seconds * 1e3)) ms" : "\(short(seconds * 1e6)) µs"
    }

    static func bytes(_ value: Double) -> String {
        let (size, unit) = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")].first { value >= $0.0 } ?? (1, "B")
        return "\(short(value / size)) \(unit)"
    }
}
