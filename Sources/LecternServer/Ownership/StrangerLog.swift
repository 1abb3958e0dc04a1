import Hosting
import Logging

/// Tells of daemons that should not be on this one's root.
struct StrangerLog: Sendable {
    let root: String
    let metrics: ServerMetrics
    let logger: Logger

    /// A stranger was heard for the first time.
    func tell(of member: String, _ conflicts: [CommonSettings.Conflict]) {
        metrics.countStranger()
        let conflict = SettingsConflict(root: root, member: member, conflicts: conflicts)
        logger.error("\(conflict); the same rooms would live in both", metadata: ["member": "\(member)"])
    }
}
