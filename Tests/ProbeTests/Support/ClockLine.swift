import Foundation
import StrokeWire
import TestSupport

/// A sample as `lectern-probe clock` prints it.
struct ClockLine {
    /// Wall time, milliseconds.
    let at: Double
    let sample: ClockSample

    var media: Double { Double(sample.media.microseconds) / 1000 }

    /// Reads the lines that are samples.
    static func lines(_ output: String) throws -> [ClockLine] {
        var lines: [ClockLine] = []
        for line in output.split(separator: "\n") {
            guard let match = line.wholeMatch(of: /\{"at":([0-9]+),"buffered":-?[0-9]+,"sample":(\{.*\})\}/) else {
                continue
            }
            guard let at = Double(match.1) else { throw Unexpected("no time in \(line)") }
            lines.append(ClockLine(at: at, sample: try ClockSample(decoding: Array(match.2.utf8))))
        }
        return lines
    }
}

extension [ClockLine] {
    /// Those that play.
    var playing: [ClockLine] { filter { $0.sample.state == .play } }

    /// How far the media times of the samples that play lie from one that moves with the wall clock from the first on:
    /// least and most, in milliseconds.
    var drift: (least: Double, most: Double) {
        guard let first = playing.first else { return (.nan, .nan) }
        let distances = playing.map { ($0.media - first.media) - ($0.at - first.at) }
        return (distances.min() ?? .nan, distances.max() ?? .nan)
    }
}
