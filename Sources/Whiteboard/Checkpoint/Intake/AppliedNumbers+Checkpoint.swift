extension CheckpointWriter {
    mutating func write(_ applied: AppliedNumbers) {
        var last = AppliedNumbers.Run(number: 0, index: 0, length: 0)
        write(list: applied.runs) { writer, run in
            writer.write(signed: run.number - last.number)
            writer.write(signed: Int64(bitPattern: run.index &- last.index))
            writer.write(UInt64(bitPattern: run.length))
            last = run
        }
    }
}

extension CheckpointReader {
    mutating func appliedNumbers() throws(CheckpointError) -> AppliedNumbers {
        let bound = Int64(CheckpointFormat.numberBound)
        var runs: [AppliedNumbers.Run] = []
        for _ in 0..<(try count()) {
            let last = runs.last
            let number = (last?.number ?? 0) &+ (try signed())
            let index = (last?.index ?? 0) &+ UInt64(bitPattern: try signed())
            let length = try countNumber()
            try require((0...bound).contains(number) && index <= CheckpointFormat.numberBound && length > 0)
            runs.append(AppliedNumbers.Run(number: number, index: index, length: length))
        }
        return AppliedNumbers(runs)
    }
}
