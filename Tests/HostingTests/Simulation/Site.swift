import Hosting
import StrokeWire
import Whiteboard

/// What all daemons of a schedule share.
final class Site {
    let world: World
    let plan: Plan
    let configuration: HostConfiguration
    let logs: [SimulatedLog]
    let shelves: [SimulatedShelf]
    let wire: Wire
    let findings: Findings
    let fault: Fault?
    let ledger: Ledger

    init(world: World, plan: Plan, fault: Fault?) {
        self.fault = fault
        self.world = world
        self.plan = plan
        configuration = plan.configuration
        logs = (0..<plan.partitions).map { SimulatedLog(partition: $0, world: world) }
        shelves = (0..<plan.partitions).map { _ in SimulatedShelf() }
        wire = Wire(world: world)
        findings = Findings(trace: world.trace)
        ledger = Ledger(world: world, findings: findings)
    }

    func partition(of room: RoomID) -> Int { RoomAddress.partition(of: room, among: plan.partitions) }
}
