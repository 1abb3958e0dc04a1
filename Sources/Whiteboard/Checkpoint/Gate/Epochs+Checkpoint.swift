import StrokeWire

extension CheckpointWriter {
    mutating func write(_ epochs: Epochs) {
        var last = Epochs.unnamed
        write(list: epochs.known) { writer, epoch in
            writer.write(signed: epoch.number - last)
            last = epoch.number
            writer.write(localTime: epoch.began)
            writer.write(usable: epoch.gateTime)
            writer.write(epoch.judged.through)
            writer.write(usable: epoch.judged.gateTime)
            writer.write(optional: epoch.unjudged) { writer, unjudged in
                writer.write(unjudged.time)
                writer.write(localTime: unjudged.loggedAt)
            }
            writer.write(optional: epoch.left) { $0.write($1) }
        }
    }

    /// A media time that may stand for none at all.
    mutating func write(usable time: MediaTime) {
        write(optional: time == .none ? nil : time) { $0.write($1) }
    }
}

extension CheckpointReader {
    mutating func epochs() throws(CheckpointError) -> Epochs {
        var known: [Epochs.Epoch] = []
        for _ in 0..<(try count()) {
            let number = (known.last?.number ?? Epochs.unnamed) &+ (try signed())
            let least = known.last.map { $0.number + 1 } ?? Epochs.unnamed
            try require(least <= number && number <= Epochs.greatest)
            var epoch = Epochs.Epoch(number: number, began: try localTime())
            epoch.gateTime = try usableTime()
            epoch.judged = Epochs.Judged(through: try self.number(), gateTime: try usableTime())
            epoch.unjudged = try optional { (reader) throws(CheckpointError) in
                Epochs.Unjudged(time: try reader.media(), loggedAt: try reader.localTime())
            }
            epoch.left = try optional { (reader) throws(CheckpointError) in try reader.media() }
            known.append(epoch)
        }
        guard let epochs = Epochs(known) else { throw damaged }
        return epochs
    }

    mutating func usableTime() throws(CheckpointError) -> MediaTime {
        try optional { (reader) throws(CheckpointError) in try reader.media() } ?? .none
    }
}
