import StrokeWire
import Whiteboard

/// The video as one cohort sees it, a while after it was made; stalls make that longer, jumps change it. Tells the
/// daemons by clock samples, each of which hears them or not.
final class Player {
    let room: RoomID
    let cohort: CohortName
    private let world: World
    private let encoder: Encoder
    private let wire: Wire
    /// Whether samples name the encoder's session.
    private let namesSessions: Bool
    private var delay: Duration
    private var stalledSince: Moment?
    private var number: Int64 = 0

    init(
        room: RoomID, cohort: CohortName, encoder: Encoder, delay: Duration, namesSessions: Bool, world: World,
        wire: Wire
    ) {
        self.room = room
        self.cohort = cohort
        self.encoder = encoder
        self.delay = delay
        self.namesSessions = namesSessions
        self.world = world
        self.wire = wire
    }

    func play(from start: Moment, until end: Moment) {
        world.at(start) { [self] in sample(until: end) }
    }

    /// The network falls behind for a while.
    func stall(for duration: Duration) {
        guard stalledSince == nil else { return }
        stalledSince = world.now
        say()
        world.after(duration) { [self] in
            if let since = stalledSince { delay = delay + (world.now - since) }
            stalledSince = nil
            say()
        }
    }

    /// The player skips, forth or back, and says so.
    func jump(by distance: Duration) {
        guard stalledSince == nil else { return }
        delay = max(.milliseconds(100), delay - distance)
        say(isDiscontinuity: true)
    }

    private func sample(until end: Moment) {
        say()
        guard world.now < end else { return }
        world.after(200...500) { [self] in sample(until: end) }
    }

    private func say(isDiscontinuity: Bool = false) {
        let seen = Moment(nanoseconds: (stalledSince ?? world.now).nanoseconds - delay.wholeNanoseconds)
        let picture = encoder.picture(at: seen)
        let state = stalledSince != nil ? "stall" : picture.isPaused ? "pause" : "play"
        number += 1
        let session = namesSessions ? ",\"ep\":\(picture.session)" : ""
        let jump = isDiscontinuity ? ",\"d\":true" : ""
        let text = "{\"m\":\(picture.media),\"q\":\(number),\"s\":\"\(state)\"\(session)\(jump)}"
        wire.clock(Array(text.utf8), of: room, cohort)
    }
}
