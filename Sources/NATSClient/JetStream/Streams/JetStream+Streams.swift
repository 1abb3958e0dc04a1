extension JetStream {
    /// A stream as it stands.
    /// - Throws: an error with `isStreamMissing` when there is none.
    public func streamInfo(_ name: String) async throws(JetStreamError) -> StreamInfo {
        try StreamInfo(await ask("STREAM.INFO.\(name)", for: StreamInfo.Wire.self))
    }

    /// Makes a stream unless there is one of that name. One that is there is never changed: it is the operator's.
    ///
    /// - Returns: the stream, and in what it differs from the one wanted without being in the way.
    /// - Throws: `.unsuitable` when the stream that is there cannot be used, such as one that does not capture all
    ///   the subjects; what the server says when it cannot make one.
    public func provision(
        _ wanted: StreamConfiguration
    ) async throws(JetStreamError) -> (info: StreamInfo, differences: [StreamDifference]) {
        let info = try await existingOrNew(wanted)
        let faults = wanted.faults(of: info.configuration)
        guard faults.isEmpty else { throw .unsuitable(stream: wanted.name, faults) }
        return (info, wanted.remarks(on: info.configuration))
    }

    private func existingOrNew(_ wanted: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
        do throws(JetStreamError) {
            return try await streamInfo(wanted.name)
        } catch {
            guard error.isStreamMissing else { throw error }
        }
        do throws(JetStreamError) {
            return try StreamInfo(await ask("STREAM.CREATE.\(wanted.name)", wanted.wire, for: StreamInfo.Wire.self))
        } catch {
            // Another daemon was faster, with other settings.
            guard error.isNameTaken else { throw error }
            return try await streamInfo(wanted.name)
        }
    }
}
