import ArgumentParser

/// `lectern-probe`: the video side of Lectern for streams that are there already.
@main
struct LecternProbe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lectern-probe",
        abstract: "Video clocks from real streams, and times for streams that have none.",
        discussion: """
            `stamp` puts the time into the pictures of a stream, on its way from the encoder. `clock` watches a stream \
            as a student's player would and publishes the media time that students see.

            EXAMPLES
              camera | lectern-probe stamp --codec flv | ffmpeg -i - -c copy -f flv rtmp://media/live/physics
              lectern-probe clock --room physics --cohort hls --source https://media/live/physics.m3u8
            """,
        subcommands: [ClockCommand.self, StampCommand.self])
}

extension ExitCode {
    /// What was asked for did not succeed.
    static let failed = ExitCode(1)
}
