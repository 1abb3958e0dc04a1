import Assets
import StrokeWire
import Whiteboard

/// The files that are being uploaded, as far as they have come.
///
/// Bounded: the announced bytes of all files together, of one room half of them, and the number of files. An upload without a
/// part for a while ends, as does one that takes too long in all, and gives its bytes back.
struct UploadTable {
    /// What an arriving part gives.
    enum Outcome: Equatable {
        /// The next part may come.
        case taken
        /// All has come; the upload stays counted until ``end(_:)``.
        case whole([UInt8], password: String?, RoomID)
        case refused(AssetError)
    }

    private struct Upload {
        let room: RoomID
        /// Announced.
        let limit: Int
        let password: String?
        var bytes: [UInt8] = []
        /// When it has to be whole.
        let end: Instant
        /// When the next part has to be there.
        var deadline: Instant
        var isWhole = false
    }

    /// How long a part may take.
    static let partTimeout: Duration = .seconds(30)
    /// How long all parts may take together, as over HTTP.
    static let timeout: Duration = .seconds(300)

    /// Uploads at a time.
    static let countLimit = 256
    /// Those of one room: files are opened one after the other, and half of the places to wait for that are left to other rooms.
    static let roomLimit = 8

    private let byteLimit: Int
    private var uploads: [String: Upload] = [:]
    /// Announced, of all uploads.
    private(set) var byteCount = 0

    /// - Parameter byteLimit: of all uploads together.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Begins an upload.
    /// - Parameters:
    ///   - token: its name.
    ///   - bytes: of the file, or more where that is not known.
    ///   - password: of the file, where it is a PDF that needs one.
    mutating func begin(
        _ token: String, _ room: RoomID, bytes: Int, password: String? = nil, at now: Instant
    ) -> AssetError? {
        guard bytes <= AssetLimits.bytes else { return .tooLarge("it has \(bytes) bytes") }
        guard bytes > 0 else { return .unreadable("there is nothing in it") }
        expire(at: now)
        let own = uploads.values.filter { $0.room == room }
        let ofRoom = own.reduce(0) { $0 + $1.limit }
        guard byteCount + bytes <= byteLimit, ofRoom == 0 || ofRoom + bytes <= byteLimit / 2,
            uploads.count < Self.countLimit, own.count < Self.roomLimit
        else { return .busy }
        // A password that is longer than any is none.
        let password = password.flatMap { $0.utf8.count <= AssetLimits.passwordBytes ? $0 : nil }
        uploads[token] = Upload(
            room: room, limit: bytes, password: password, end: now + Self.timeout, deadline: now + Self.partTimeout)
        byteCount += bytes
        return nil
    }

    /// Takes a part. The last one again, whose acknowledgement was lost, counts once.
    /// - Parameters:
    ///   - offset: bytes before it.
    ///   - part: without bytes, the end.
    mutating func receive(_ token: String, offset: Int, _ part: [UInt8], at now: Instant) -> Outcome {
        guard let index = uploads.index(forKey: token), !uploads.values[index].isWhole else {
            return .refused(.unreadable("its upload has ended, or waited too long"))
        }
        let (count, limit) = (uploads.values[index].bytes.count, uploads.values[index].limit)
        uploads.values[index].deadline = min(now + Self.partTimeout, uploads.values[index].end)
        if !part.isEmpty, (0...count).contains(offset), count - offset == part.count { return .taken }
        guard offset == count, count + part.count <= limit else {
            end(token)
            return .refused(
                offset == count ? .tooLarge("it has more bytes than announced") : .unreadable("a part of it is missing")
            )
        }
        guard part.isEmpty else {
            if count == 0 { uploads.values[index].bytes.reserveCapacity(limit) }
            uploads.values[index].bytes += part
            return .taken
        }
        uploads.values[index].isWhole = true
        let bytes = uploads.values[index].bytes
        uploads.values[index].bytes = []
        return .whole(bytes, password: uploads.values[index].password, uploads.values[index].room)
    }

    mutating func end(_ token: String) {
        if let upload = uploads.removeValue(forKey: token) { byteCount -= upload.limit }
    }

    var isEmpty: Bool { uploads.isEmpty }

    /// Forgets uploads whose deadline has passed, with their bytes and passwords.
    mutating func expire(at now: Instant) {
        for (token, upload) in uploads where !upload.isWhole && upload.deadline < now { end(token) }
    }
}
