#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension NATSSettings {
    /// Looks whether the file of credentials, if there is one, can be read now. libnats says no more than that
    /// something went wrong.
    ///
    /// - Throws: `.unreadableCredentials`.
    public func checkCredentials() throws(NATSError) {
        guard let credentialsFile, access(credentialsFile, R_OK) != 0 else { return }
        throw .unreadableCredentials(path: credentialsFile, why: String(cString: strerror(errno)))
    }
}
