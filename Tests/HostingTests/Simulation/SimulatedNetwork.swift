import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// Core NATS: delivers to the present subscribers, in order and after a short delay; some messages are lost.
final class SimulatedNetwork {
    private let world: World
    var processes: [DaemonProcess] = []
    var students: [Student] = []
    var teachers: [Teacher] = []
    private var lastArrival: [ObjectIdentifier: Moment] = [:]

    init(world: World) {
        self.world = world
    }

    func release(_ operation: Whiteboard.Operation, of life: String, to room: RoomID, _ cohort: CohortName) {
        for student in students where student.room == room && student.cohort == cohort {
            carry(to: student) { student.hear(operation, of: life) }
        }
    }

    func mark(_ mark: Mark, to room: RoomID, _ cohort: CohortName) {
        for student in students where student.room == room && student.cohort == cohort {
            carry(to: student) { student.hear(mark) }
        }
    }

    func tell(_ feedback: FeedbackMessage, to author: AuthorID, of room: RoomID) {
        for teacher in teachers where teacher.room == room && teacher.id == author && !world.chance(50) {
            carry(to: teacher) { teacher.hear(feedback) }
        }
    }

    func clock(_ sample: [UInt8], of room: RoomID, _ cohort: CohortName) {
        for process in processes where process.isReached && !world.chance(40) {
            carry(to: process) { process.hear(sample, of: room, cohort) }
        }
    }

    /// An update of a stroke being drawn: it may be lost, come twice, or late.
    func draw(_ update: [UInt8], in room: RoomID, by author: AuthorID, _ session: String?) {
        for process in processes where process.isReached {
            for _ in 0..<(world.chance(50) ? 2 : 1) where !world.chance(100) {
                let delay = world.chance(100) ? 20...400 : 0...10
                world.after(delay) { process.hear(update, of: room, by: author, session) }
            }
        }
    }

    func announce(_ announcement: Announcement) {
        for process in processes where process.isReached && !world.chance(20) {
            carry(to: process) { process.hear(announcement) }
        }
    }

    func join(_ room: RoomID, _ cohort: CohortName, _ request: JoinRequest, answer: @escaping (CatchUp) -> Void) {
        for process in processes where process.isReached && !world.chance(20) {
            carry(to: process) { [world] in
                process.hear(request, of: room, cohort) { reply in world.after(0...20) { answer(reply) } }
            }
        }
    }

    private func carry(to receiver: AnyObject, _ arrive: @escaping () -> Void) {
        let delay = world.chance(20) ? world.random.milliseconds(20...300) : world.random.milliseconds(0...5)
        let at = max(world.now + delay, lastArrival[ObjectIdentifier(receiver)] ?? world.now)
        lastArrival[ObjectIdentifier(receiver)] = at + .nanoseconds(1)
        world.at(at, arrive)
    }
}

/// The send buffer of a process's NATS connection: messages arrive in order, a moment later; those still in it when the
/// connection is lost never arrive.
final class SendBuffer {
    private struct Item {
        let arrive, lose: () -> Void
    }

    private let world: World
    private var items: [Item] = []
    private var isScheduled = false
    /// Whether the connection is dead, although the process has not noticed yet.
    private(set) var isStalled = false

    init(world: World) {
        self.world = world
    }

    func send(_ arrive: @escaping () -> Void, orLose lose: @escaping () -> Void = {}) {
        items.append(Item(arrive: arrive, lose: lose))
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !isStalled else { return }
        isScheduled = true
        let delay = world.chance(30) ? 5...120 : 0...1
        world.after(delay) { [weak self] in
            guard let self else { return }
            isScheduled = false
            guard !isStalled else { return }
            let arrived = items
            items = []
            for item in arrived { item.arrive() }
        }
    }

    func stall() { isStalled = true }

    /// The connection is lost with all that is in the buffer.
    func lose() {
        isStalled = false
        let lost = items
        items = []
        for item in lost { item.lose() }
    }
}
