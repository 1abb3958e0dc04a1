import LecternClient
import StrokeWire
import Whiteboard

/// A class in virtual time: one pen, the service's room, one student of each of two cohorts.
///
/// The room is the service's own. Messages take ``delay`` each way. Of messages that nobody acknowledges, those of wet ink,
/// a share is lost for good. An operation that is lost on its way to the log is sent again after ``resendInterval``; one
/// that is lost on its way to a student is fetched after the next mark.
struct StudyClass {
    /// One way, in milliseconds.
    static let delay = 20.0
    static let resendInterval = 500.0
    static let markInterval = 1000.0
    /// Between two updates of a stroke.
    static let updateInterval = 33.0
    /// Between two updates that have the whole stroke.
    static let wholeInterval = 1000.0
    /// How far the students of each cohort are behind, in milliseconds.
    static let cohorts: [(name: CohortName, behind: Double)] = [(.named("live"), 300), (.named("hls"), 12_000)]

    /// When points were seen, against when the video passed them.
    struct Outcome {
        /// Bytes that the teacher sent: updates and operations.
        var sentUpdates = EncodedSizes()
        var sentOperations = EncodedSizes()
        /// Bytes of wet ink to one reader of the head feed.
        var head = 0
        /// Bytes on their way to one student of each cohort.
        var wet: [CohortName: EncodedSizes] = [:]
        var operations: [CohortName: EncodedSizes] = [:]
        /// Milliseconds from a point's moment in the video to its appearance; below 0: too early.
        var lateness: [CohortName: [Double]] = [:]
        /// Milliseconds with the pen down.
        var penDown = 0.0
        /// Points of operations, and the processor's time in the room.
        var points = 0
        var roomTime = Duration.zero
    }

    private enum Event {
        case pen(stroke: Int, PenRecording.Event)
        case tick(stroke: Int)
        case penUp(stroke: Int)
        case updateArrives([UInt8])
        case operationArrives([UInt8])
        case clock(Int)
        case wake
        case wetArrives(Int, number: Int64, WetPoints)
        case operationSeen(Int, number: Int64)
    }

    /// A stroke on the teacher's side.
    private struct Sender {
        var points: [StrokePoint] = []
        /// Where each point of the recording is in ``points``; nil where it is not sent.
        var places: [Int?] = []
        var firstUnsent = 0
        /// ``firstUnsent`` before each of the last updates.
        var lastFirst: [Int] = []
        var predicted: [StrokePoint] = []
        var hasNewPrediction = false
        var update: Int64 = 0
        var nextWhole = 0.0
        var lastTime = -Double.infinity
        var isUp = false
    }

    private let recordings: [PenRecording]
    private let content: PenContent
    private let isProgressive: Bool
    private let loss: Double
    /// How many updates before it an update repeats.
    private let overlap: Int

    private var generator: SeededGenerator
    private var queue: [(time: Double, sequence: Int, event: Event)] = []
    private var sequence = 0
    private var now = 0.0
    private var room: Room
    private var effects = RoomEffects()
    private var nextWake = Double.infinity

    private var starts: [Double] = []
    private var senders: [Sender] = []
    /// Of each cohort's student: points known of each stroke, and when each point was first seen.
    private var known: [[Int]]
    private var seen: [[[Double]]]
    private var outcome = Outcome()

    private static let author = AuthorID("pen")

    /// - Parameter recordings: strokes that are drawn one after the other, 400 ms apart.
    init(
        _ recordings: [PenRecording], content: PenContent, isProgressive: Bool, loss: Double, overlap: Int = 0,
        seed: UInt64
    ) {
        self.recordings = recordings
        self.content = content
        self.isProgressive = isProgressive
        self.loss = loss
        self.overlap = overlap
        generator = SeededGenerator(seed: seed)
        let settings = CohortSettings(ink: isProgressive ? .progressive : .whole)
        room = Room(
            configuration: RoomConfiguration(
                cohorts: CohortsConfiguration(
                    named: Dictionary(uniqueKeysWithValues: Self.cohorts.map { ($0.name, settings) }))),
            at: Self.instant(0))
        known = Self.cohorts.map { _ in recordings.map { _ in 0 } }
        seen = Self.cohorts.map { _ in recordings.map { $0.points.map { _ in .infinity } } }
    }

    private static func instant(_ milliseconds: Double) -> Instant {
        Instant(nanoseconds: Int64((milliseconds * 1e6).rounded(.up)))
    }

    /// Plays the class to its end.
    mutating func run() -> Outcome {
        var start = 1000.0
        for (stroke, recording) in recordings.enumerated() {
            starts.append(start)
            senders.append(Sender(nextWhole: start + Self.wholeInterval))
            for (time, event) in recording.events { schedule(start + time, .pen(stroke: stroke, event)) }
            if isProgressive { schedule(start + 1, .tick(stroke: stroke)) }
            schedule(start + recording.duration + 0.1, .penUp(stroke: stroke))
            outcome.penDown += recording.duration
            start += recording.duration + 400
        }
        let end = start + (Self.cohorts.map(\.behind).max() ?? 0) + 20_000
        for cohort in Self.cohorts.indices { schedule(0, .clock(cohort)) }
        while let next = queue.popLast(), next.time <= end {
            now = next.time
            perform(next.event)
        }
        collect()
        return outcome
    }

    private mutating func schedule(_ time: Double, _ event: Event) {
        sequence += 1
        // The next event is the last of the list.
        let place = queue.partitioningIndex { ($0.time, $0.sequence) < (time, sequence) }
        queue.insert((time, sequence, event), at: place)
    }

    private mutating func isLost() -> Bool { Double.random(in: 0..<1, using: &generator) < loss }

    private mutating func perform(_ event: Event) {
        switch event {
        case .pen(let stroke, let event): take(event, stroke)
        case .tick(let stroke): tick(stroke)
        case .penUp(let stroke): finish(stroke)
        case .updateArrives(let bytes):
            guard let author = Self.author else { return }
            work { $0.receive(wetUpdate: bytes, of: author, session: nil, at: $1, into: &$2) }
        case .operationArrives(let bytes):
            guard let author = Self.author else { return }
            let message = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: Self.instant(now))
            work { $0.receive(message, incarnation: { "study" }, at: $1, into: &$2) }
        case .clock(let cohort):
            guard let media = MediaTime(milliseconds: now - Self.cohorts[cohort].behind) else { return }
            let sample = ClockSample(media: media)
            work { $0.receive(clockSample: sample.encoded(), cohort: Self.cohorts[cohort].name, at: $1, into: &$2) }
            schedule(now + 250, .clock(cohort))
        case .wake:
            if now >= nextWake { work() }
        case .wetArrives(let cohort, let number, let points): see(points, number, cohort)
        case .operationSeen(let cohort, let number): see(number, cohort)
        }
    }

    // MARK: - Teacher

    private mutating func take(_ event: PenRecording.Event, _ stroke: Int) {
        switch event {
        case .sample(let point):
            let time = point.milliseconds ?? 0
            let isLast = senders[stroke].places.count == recordings[stroke].points.count - 1
            guard content.takes(after: time - senders[stroke].lastTime) || isLast else {
                senders[stroke].places.append(nil)
                return
            }
            senders[stroke].lastTime = time
            senders[stroke].places.append(senders[stroke].points.count)
            senders[stroke].points.append(content.reduced(point))
            senders[stroke].predicted = []
        case .lateForce(let place, let force):
            guard content.fields.contains(.force), content.hasLateForce, let place = senders[stroke].places[place]
            else {
                return
            }
            senders[stroke].points[place].force = force
            senders[stroke].firstUnsent = min(senders[stroke].firstUnsent, place)
        case .predicted(let points):
            guard content.hasPredictions else { return }
            senders[stroke].predicted = points.map(content.reduced)
            senders[stroke].hasNewPrediction = true
        }
    }

    private mutating func tick(_ stroke: Int) {
        guard !senders[stroke].isUp else { return }
        schedule(now + Self.updateInterval, .tick(stroke: stroke))
        let isWhole = now >= senders[stroke].nextWhole
        let sender = senders[stroke]
        guard isWhole || sender.firstUnsent < sender.points.count || sender.hasNewPrediction else { return }
        let repeated = sender.lastFirst.suffix(overlap).min() ?? .max
        let first = isWhole ? 0 : min(sender.firstUnsent, repeated)
        let style = WetStrokeStyle(
            width: recordings[stroke].width, time: Int64(starts[stroke]), boardWidth: 1024, boardHeight: 768)
        let points = WetPoints(
            style: style, first: first, points: Array(sender.points[first...]), predicted: sender.predicted)
        let update = WetUpdate(number: Int64(stroke + 1), update: sender.update + 1, .points(points))
        senders[stroke].update += 1
        senders[stroke].lastFirst.append(sender.firstUnsent)
        senders[stroke].firstUnsent = sender.points.count
        senders[stroke].hasNewPrediction = false
        if isWhole { senders[stroke].nextWhole = now + Self.wholeInterval }
        let bytes = update.encoded()
        outcome.sentUpdates.add(wet: bytes, points.points + points.predicted)
        if !isLost() { schedule(now + Self.delay, .updateArrives(bytes)) }
    }

    private mutating func finish(_ stroke: Int) {
        senders[stroke].isUp = true
        let bytes = PenContent.message(
            Int64(stroke + 1), senders[stroke].points, width: recordings[stroke].width, time: Int64(starts[stroke]))
        outcome.points += senders[stroke].points.count
        var tries = 0
        repeat {
            outcome.sentOperations.add(bytes)
            tries += 1
        } while isLost() && tries < 20
        schedule(now + Self.delay + Double(tries - 1) * Self.resendInterval, .operationArrives(bytes))
    }

    // MARK: - Service

    /// Gives the room an input, lets it do what is due, and carries its effects out.
    private mutating func work(_ input: (inout Room, Instant, inout RoomEffects) -> Void = { _, _, _ in }) {
        outcome.roomTime += ContinuousClock().measure {
            input(&room, Self.instant(now), &effects)
            room.advance(to: Self.instant(now), into: &effects)
        }
        let list = effects.list
        effects.removeAll()
        for effect in list { perform(effect) }
        nextWake = room.nextWake(after: Self.instant(now)).map { Double($0.nanoseconds) / 1e6 } ?? .infinity
        if nextWake < .infinity { schedule(max(nextWake, now), .wake) }
    }

    private mutating func perform(_ effect: RoomEffect) {
        switch effect {
        case .wet(let name?, let publication):
            guard let cohort = Self.cohorts.firstIndex(where: { $0.name == name }) else { return }
            guard let release = try? WetRelease(decoding: publication.body), case .points(let points) = release.content
            else { return }
            outcome.wet[name, default: EncodedSizes()].add(wet: publication.body, points.points)
            if !isLost() { schedule(now + Self.delay, .wetArrives(cohort, number: release.number, points)) }
        case .wet(nil, let publication): outcome.head += publication.body.count
        case .release(let name, let operation, _, _):
            guard let cohort = Self.cohorts.firstIndex(where: { $0.name == name }) else { return }
            outcome.operations[name, default: EncodedSizes()].add(operation.message)
            var arrival = now + Self.delay
            var tries = 0
            while isLost(), tries < 20 {
                // The mark, a request and its reply, all of which can be lost too.
                arrival += Self.markInterval + 2 * Self.delay
                tries += 1
            }
            schedule(arrival, .operationSeen(cohort, number: operation.number))
        default: break
        }
    }

    // MARK: - Students

    private mutating func see(_ points: WetPoints, _ number: Int64, _ cohort: Int) {
        let stroke = Int(number) - 1
        guard points.first <= known[cohort][stroke] else { return }
        known[cohort][stroke] = max(known[cohort][stroke], points.first + points.points.count)
        for place in points.first..<points.first + points.points.count { note(place, stroke, cohort) }
    }

    private mutating func see(_ number: Int64, _ cohort: Int) {
        let stroke = Int(number) - 1
        for place in senders[stroke].points.indices { note(place, stroke, cohort) }
    }

    private mutating func note(_ place: Int, _ stroke: Int, _ cohort: Int) {
        seen[cohort][stroke][place] = min(seen[cohort][stroke][place], now)
    }

    private mutating func collect() {
        for (cohort, (name, behind)) in Self.cohorts.enumerated() {
            for (stroke, recording) in recordings.enumerated() {
                for (place, point) in zip(senders[stroke].places, recording.points) {
                    guard let place else { continue }
                    let due = starts[stroke] + (point.milliseconds ?? 0) + behind
                    outcome.lateness[name, default: []].append(seen[cohort][stroke][place] - due)
                }
            }
            outcome.lateness[name]?.sort()
        }
    }
}

extension CohortName {
    fileprivate static func named(_ name: String) -> CohortName {
        guard let name = CohortName(name) else { preconditionFailure("\(name) is no cohort's name") }
        return name
    }
}
