/// Samples of the video clocks of many rooms of one partition, in one message: for a source that knows many streams.
///
/// An object of rooms, each an object of cohorts with a sample each, as ``ClockSample`` describes it:
/// `{"chemistry":{"main":{"m":81190}},"physics":{"main":{"m":81250},"hls":{"m":69250}}}`. Of a name that is given twice the
/// last value counts.
public struct ClockBatch: Sendable, Equatable {
    /// Encoded samples, by the rooms and cohorts that they are of.
    public private(set) var samples: [RoomID: [CohortName: [UInt8]]] = [:]
    /// Members of a decoded message that were passed over, because their name is not that of a room or of a cohort, or
    /// because they are no object; those of one name count once.
    public private(set) var rejected = 0
    private var size = 2

    /// The greatest number of rooms in a message.
    public static let roomLimit = 256
    /// The greatest size of a message in bytes.
    public static let byteLimit = 131_072

    /// A message without samples.
    public init() {}

    /// Adds a sample, or replaces the one of the same cohort.
    /// - Returns: whether it was added; false where the message is full.
    public mutating func add(_ sample: ClockSample, room: RoomID, cohort: CohortName) -> Bool {
        let bytes = sample.encoded()
        // The greatest number of characters around the sample and its names.
        let cost = bytes.count + room.text.utf8.count + cohort.text.utf8.count + 10
        guard size + cost <= Self.byteLimit, samples[room] != nil || samples.count < Self.roomLimit else {
            return false
        }
        size += cost
        samples[room, default: [:]][cohort] = bytes
        return true
    }

    /// Writes the message, at most ``byteLimit`` bytes.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            for (room, cohorts) in samples {
                body.append(key: room.text)
                body.appendObject { body in
                    for (cohort, sample) in cohorts {
                        body.append(key: cohort.text)
                        body.append(contentsOf: sample)
                    }
                }
            }
        }
    }

    /// Reads a message. The samples themselves are not looked at.
    /// - Throws: `too-large`, `not-json`, `wrong-type` if it is not an object, or `out-of-range` if it has more than
    ///   ``roomLimit`` rooms.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: nil, limit: Self.byteLimit)
        size = bytes.count
        for (name, token) in body.members {
            guard let room = RoomID(name), case .object = token else {
                rejected += 1
                continue
            }
            var cohorts: [CohortName: [UInt8]] = [:]
            for (name, token) in try JSONObject(token, of: bytes, keeping: nil, field: nil).members {
                if let cohort = CohortName(name), case .object(let range) = token {
                    cohorts[cohort] = Array(bytes[range])
                } else {
                    rejected += 1
                }
            }
            samples[room] = cohorts
        }
        guard samples.count <= Self.roomLimit else {
            throw Rejection(code: .outOfRange, message: "The message has more than \(Self.roomLimit) rooms.")
        }
    }
}

extension ClockBatch {
    /// The subject of messages for rooms of a partition.
    public static func subject(root: String, partition: Int) -> String { "\(root).\(partition).clocks" }

    /// The partition of a subject; nil if it is none of ``subject(root:partition:)``.
    public static func partition(ofSubject subject: String, root: String) -> Int? {
        let parts = subject.utf8.dropFirst(root.utf8.count).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard subject.utf8.starts(with: root.utf8), parts.count == 3, parts[0].isEmpty,
            parts[2].elementsEqual("clocks".utf8)
        else { return nil }
        return InboundSubject.partition(parts[1])
    }
}
