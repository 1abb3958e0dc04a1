/// Data that lies beside the package and is no part of it.
enum SharedData {
    /// `../shared/data`, or the folder that `LECTERN_SHARED_DATA` names.
    static let folder = EnvironmentVariable("LECTERN_SHARED_DATA").text ?? PackageRoot.path(to: "../shared/data")
}
