import StrokeWire

/// What a checkpoint has beside its format: notes that an earlier release passes over, so that it goes on with the room.
///
/// They stand in the table of texts, in a last one that nothing refers to: ``mark``, which no name begins with, and
/// hexadecimal digits. Each note is the number of its kind and bytes, in which times begin anew. Add fields at the end of a
/// note: readers pass over what they do not know.
enum CheckpointNote: UInt64 {
    /// Of each cohort whether it has a video, and its clock.
    case cohorts = 1
    /// A provisional epoch that is over, or that the log may not have yet.
    case provisional = 2
    /// When authors have drawn last, and a draw that no clock has judged by rule 18.
    case authors = 3
    /// The epochs that were provisional before the log named them.
    case foreseen = 4
    /// The provisional epoch that begins where the log ends the last one.
    case nextProvisional = 5

    private static let mark: UInt8 = 1

    static func text(_ notes: [UInt8]) -> [UInt8] {
        [mark] + notes.flatMap { [UInt8(hexadecimalDigit: $0 >> 4), UInt8(hexadecimalDigit: $0 & 15)] }
    }

    static func isNotes(_ text: String) -> Bool { text.utf8.first == mark }

    /// The notes of a text that has some; nil where they are damaged.
    static func notes(in text: String) -> [UInt8]? { text.utf8.dropFirst().hexadecimalBytes }
}

extension CheckpointWriter {
    /// Writes the notes of a room, as far as there is something to say.
    mutating func writeNotes(_ gate: Gate, _ authors: AuthorTimes) {
        if gate.hasEverHeard || gate.cohorts.contains(where: { $0.clockToSave != nil }) {
            write(note: .cohorts) { writer in
                writer.write(list: gate.cohorts) { writer, cohort in
                    writer.write(cohort.name.text)
                    writer.write(cohort.hasVideo)
                    writer.write(optional: cohort.clockToSave) { writer, clock in
                        writer.write(signed: clock.epoch)
                        writer.write(clock.media)
                    }
                }
            }
        }
        if let last = gate.provisionalToSave {
            write(note: .provisional) { writer in
                writer.write(last)
                if let earlier = gate.earlierProvisionalToSave { writer.write(earlier) }
            }
        }
        if let next = gate.nextProvisional {
            write(note: .nextProvisional) { writer in
                writer.write(next.first)
                writer.write(UInt64(clamping: next.age))
                writer.write(localTime: next.loggedAt)
            }
        }
        let foreseen = gate.timeline.epochs.known.filter { $0.wasProvisional }
        if !foreseen.isEmpty {
            write(note: .foreseen) { $0.write(list: foreseen) { $0.write(UInt64(clamping: $1.number)) } }
        }
        let draws = authors.lastDraws
        guard !draws.isEmpty || authors.unjudged != nil else { return }
        write(note: .authors) { writer in
            writer.write(list: draws) { writer, draw in
                writer.write(draw.author.text)
                writer.write(draw.time)
            }
            writer.write(optional: authors.unjudged) { writer, draw in
                writer.write(draw.index)
                writer.write(draw.time)
                writer.write(localTime: draw.loggedAt)
            }
        }
    }
}

extension CheckpointReader {
    /// Reads the notes of a room into its parts.
    mutating func readNotes(
        _ gate: inout Gate, _ authors: inout AuthorTimes, at now: Instant
    ) throws(CheckpointError) {
        var notes = try notes()
        while !notes.isAtEnd {
            let kind = CheckpointNote(rawValue: try notes.integer())
            var note = try notes.note()
            switch kind {
            case .cohorts: try note.restoreCohorts(of: &gate)
            case .provisional:
                let last = try note.number()
                gate.restoreProvisional(last, after: note.isAtEnd ? 0 : try note.number())
            case .foreseen:
                for _ in 0..<(try note.count()) { gate.restoreForeseen(Int64(clamping: try note.integer())) }
            case .nextProvisional:
                let (first, age) = (try note.number(), Int64(try note.number()))
                try note.require(age <= ClockSample.greatestAge)
                gate.nextProvisional = (first, age, try note.localTime())
            case .authors: authors = try note.authorTimes(at: now)
            case nil: break
            }
        }
    }

    private mutating func restoreCohorts(of gate: inout Gate) throws(CheckpointError) {
        for _ in 0..<(try count()) {
            let name: CohortName = try name()
            let hasVideo = try flag()
            let clock = try optional { (reader) throws(CheckpointError) in
                let epoch = try reader.signed()
                try reader.require((Epochs.unnamed...Epochs.greatest).contains(epoch))
                return SavedClock(epoch: epoch, media: try reader.media())
            }
            gate.restore(hasVideo: hasVideo, clock, of: name)
        }
    }

    private mutating func authorTimes(at now: Instant) throws(CheckpointError) -> AuthorTimes {
        var authors = AuthorTimes()
        for _ in 0..<(try count()) { authors.drew(try name(), at: try media(), now: now) }
        let unjudged = try optional { (reader) throws(CheckpointError) in
            AuthorTimes.UnjudgedDraw(
                index: try reader.number(), time: try reader.media(), loggedAt: try reader.localTime())
        }
        if let unjudged { authors.noteUnjudged(unjudged) }
        return authors
    }
}
