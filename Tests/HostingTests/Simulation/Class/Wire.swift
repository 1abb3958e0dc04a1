import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// Core NATS: carries what is published to who is there, in order, a little later, and forgets it.
final class Wire {
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
