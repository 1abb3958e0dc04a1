extension JetStream {
    /// A stream as it stands.
    /// - Throws: an error with `isStreamMissing` when there is none.
    public func streamInfo(_ name: String) async throws(JetStreamError) -> StreamInfo {
        var wire = try await ask("STREAM.INFO.\(name)", for: StreamInfo.Wire.self)
        // While a server makes a stream it shows it already (2.9.10); that takes it some milliseconds.
        for _ in 0..<100 where wire.isBeingMade {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { throw .connection(.cancelled) }
            wire = try await ask("STREAM.INFO.\(name)", for: StreamInfo.Wire.self)
        }
        return try StreamInfo(wire)
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
        if let info = try await streamInfoIfAny(wanted.name) { return info }
        do throws(JetStreamError) {
            return try StreamInfo(await ask("STREAM.CREATE.\(wanted.name)", wanted.wire, for: StreamInfo.Wire.self))
        } catch {
            // Another daemon may have been faster, with other settings.
            guard error.isTaken, let info = try await streamInfoIfAny(wanted.name) else { throw error }
            return info
        }
    }

    private func streamInfoIfAny(_ name: String) async throws(JetStreamError) -> StreamInfo? {
        do throws(JetStreamError) {
            return try await streamInfo(name)
        } catch {
            guard error.isStreamMissing else { throw error }
            return nil
        }
    }
}
