import CZlib
import Foundation
import Ink
import StrokeWire

/// Which of a pen's values a client sends.
struct PenContent {
    enum Field: CaseIterable { case time, force, angles }

    let name: String
    /// Least time between two points in milliseconds; 0 for all points that the pen gave.
    var interval = 0.0
    var fields: Set<Field> = []
    var hasPredictions = false
    /// Whether a force that comes late replaces the estimated one.
    var hasLateForce = true

    static let places60 = PenContent(name: "places, one a frame (60 Hz)", interval: 1000 / 60)
    static let places = PenContent(name: "places, all")
    static let times = PenContent(name: "+ times", fields: [.time])
    static let force = PenContent(name: "+ force", fields: [.time, .force])
    static let full = PenContent(name: "+ angles", fields: [.time, .force, .angles])
    static let estimated = PenContent(
        name: "+ force as estimated, angles", fields: [.time, .force, .angles], hasLateForce: false)
    static let predicted = PenContent(
        name: "+ predictions", fields: [.time, .force, .angles], hasPredictions: true)
    /// What an operation can have, each with one kind of values more than the one before it.
    static let all = [places60, places, times, force, full]

    /// A point with the fields that are sent.
    func reduced(_ point: StrokePoint) -> StrokePoint {
        StrokePoint(
            x: point.x, y: point.y, force: fields.contains(.force) ? point.force : nil,
            altitude: fields.contains(.angles) ? point.altitude : nil,
            azimuth: fields.contains(.angles) ? point.azimuth : nil,
            milliseconds: fields.contains(.time) ? point.milliseconds : nil)
    }

    /// Whether a point is sent that comes so many milliseconds after the one sent before it.
    func takes(after milliseconds: Double) -> Bool { milliseconds >= interval - 1 }

    /// What is sent of a stroke: its points, the first and the last always among them.
    func reduced(_ recording: PenRecording) -> [StrokePoint] {
        var points: [StrokePoint] = []
        var last = -Double.infinity
        for (place, point) in recording.points.enumerated() {
            let time = point.milliseconds ?? 0
            guard takes(after: time - last) || place == recording.points.count - 1 else { continue }
            last = time
            points.append(reduced(point))
        }
        return points
    }

    /// The operation's message.
    static func message(_ number: Int64, _ points: [StrokePoint], width: Double, time: Int64) -> [UInt8] {
        StrokeMessage(number: number, width: width, time: time, boardWidth: 1024, boardHeight: 768)
            .encoded(interior: PointEncoder.interior(of: points)[...])
    }
}

/// Sizes of a body in the three forms.
struct EncodedSizes {
    var json = 0
    var gzip = 0
    var binary = 0

    mutating func add(_ message: [UInt8]) {
        json += message.count
        gzip += message.gzipped().count
        binary += BinaryMessage.encode(message).count
    }

    /// Adds a message of wet ink, which has no binary form: counted is what its points take as an operation, and what
    /// tells whose they are and where they belong.
    mutating func add(wet body: [UInt8], _ points: [StrokePoint]) {
        json += body.count
        gzip += body.gzipped().count
        binary += BinaryMessage.encode(PenContent.message(1, points, width: 6, time: 0)).count + Self.wetHeader
    }

    /// Author, update, first place.
    private static let wetHeader = 8

    static func + (left: EncodedSizes, right: EncodedSizes) -> EncodedSizes {
        EncodedSizes(json: left.json + right.json, gzip: left.gzip + right.gzip, binary: left.binary + right.binary)
    }
}

extension [UInt8] {
    /// As one gzip member (RFC 1952), at zlib's usual level.
    func gzipped() -> [UInt8] {
        var stream = z_stream()
        precondition(
            deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK, "no memory to compress")
        defer { deflateEnd(&stream) }
        return withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(count)))) { output, length in
                // zlib does not write to its input.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END, "a message is larger than its bound")
                length = output.count - Int(stream.avail_out)
            }
        }
    }
}

/// What the work on a stroke costs, in nanoseconds a point.
struct StrokeCosts {
    private(set) var encode = 0.0
    private(set) var decode = 0.0
    private(set) var pack = 0.0
    private(set) var unpack = 0.0
    private(set) var gzip = 0.0
    private(set) var trace = 0.0

    /// Measures one content. Each figure is that of the fastest of some rounds.
    init(_ content: PenContent, of recordings: [PenRecording], rounds: Int) throws {
        let strokes = recordings.map(content.reduced)
        let count = Double(strokes.reduce(0) { $0 + $1.count })
        let messages = zip(strokes, recordings).map { PenContent.message(1, $0, width: $1.width, time: 1) }
        let packed = messages.map { BinaryMessage.encode($0) }
        var total = 0
        func cost(_ body: () throws -> Void) rethrows -> Double {
            var fastest = Duration.seconds(1000)
            for _ in 0..<rounds { fastest = min(fastest, try ContinuousClock().measure(body)) }
            return fastest / .nanoseconds(1) / count
        }
        encode = cost { for points in strokes { total += PenContent.message(1, points, width: 2, time: 1).count } }
        decode = try cost {
            var points: [StrokePoint] = []
            for message in messages {
                _ = try StrokeMessage(decoding: message, points: &points)
                total += points.count
            }
        }
        pack = cost { for message in messages { total += BinaryMessage.encode(message).count } }
        unpack = try cost {
            var points: [StrokePoint] = []
            for message in packed {
                _ = try BinaryMessage.decode(message, points: &points)
                total += points.count
            }
        }
        gzip = cost { for message in messages { total += message.gzipped().count } }
        trace = cost {
            var fitter = ParabolaFitter(scale: 1, canvasWidth: 1024, canvasHeight: 768)
            for points in strokes {
                fitter.reset()
                InkStroke(element: .freehand, style: .pen, width: 6, points: points).trace(into: &fitter)
                total += fitter.samples.count
            }
        }
        precondition(total > 0)
    }
}
