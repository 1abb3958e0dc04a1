public import NATSClient
public import StrokeWire

/// What a page of a room shows, to be written onto a new page: strokes, erasers, images and lassos in their order, without
/// what was undone or cleared. It is read once; the reply to a join bounds its bytes.
public struct PageCopy: Sendable {
    /// Bytes and operations that are written at a time: so much is in memory twice.
    private static let batchBytes = 1 << 20
    private static let batchOperations = 200

    /// The room that was read.
    public let address: RoomAddress
    public let page: Int
    /// The room as it was then.
    public let settings: BoardSettings
    private let entries: [JoinedOperation]

    /// What lies under the entries.
    let paper: Paper?

    /// The files of its images and of its paper: they are to be brought to another room before it is written there.
    public let assets: Set<AssetID>
    /// The entries as they were sent, the lowest first.
    var messages: [[UInt8]] { entries.map { Array($0.message) } }
    /// Number of entries, with the paper.
    public var count: Int { entries.count + (paper == nil ? 0 : 1) }
    /// Bytes that it keeps, about.
    public let bytes: Int

    /// Reads a page at the end of a room's log.
    ///
    /// - Parameter connection: a connection that `connect` was called on.
    /// - Throws: ``PageError/unknownPage``, ``PageError/unsupported(_:)``, ``PageError/room(_:)``.
    public init(of page: Int, in address: RoomAddress, over connection: NATSConnection) async throws(PageError) {
        do throws(RoomDirectoryError) {
            let reply = try await JoinReply(of: address, JoinRequest(part: .page(page)), over: connection)
            settings = try BoardSettings(reply)
            guard case .board(_, _, let visible, _, _) = reply.content else { throw .malformed }
            // Services of older releases send all pages.
            entries = visible.filter { $0.page == page }
        } catch {
            throw .room(error)
        }
        guard settings.features.contains(.pages) else { throw .unsupported(.pages) }
        guard settings.pages.order.contains(page) || settings.pages.hidden.contains(page) else { throw .unknownPage }
        do throws(MalformedMessage) {
            var assets: Set<AssetID> = []
            for entry in entries {
                let message = try StrokeMessage(accepted: Array(entry.message))
                if case .image(let id, _)? = message.content { assets.insert(id) }
            }
            paper = settings.pages.paper(of: page)
            if let asset = paper?.asset { assets.insert(asset) }
            self.assets = assets
        } catch {
            throw .room(.malformed)
        }
        (self.address, self.page) = (address, page)
        bytes = entries.reduce(256) { $0 + $1.message.count + 64 }
    }

    /// Writes the entries onto a new page at the end of a room's order.
    ///
    /// - Parameters:
    ///   - writer: of the other room, or the same.
    ///   - time: of the operations; nil for none.
    ///   - progress: called with the number of entries written and that of all: first when the page is there, and then about
    ///     twice a second.
    /// - Throws: ``PageError``; ``PageError/incomplete(pages:_:)`` names the new page where a part of the entries is on it.
    /// - Returns: the number of the page.
    public func write(
        with writer: inout OperationWriter, at time: Int64?, progress: (_ written: Int, _ all: Int) -> Void
    ) async throws(PageError) -> Int {
        let target = try await writer.settings()
        let new = try await writer.addPages(1, at: time)[0]
        progress(0, count)
        if let paper, target.features.contains(.paper) {
            let outcome = await writer.write([paper.operation(page: new, of: settings, at: time)])
            if let failure = outcome.failure {
                try? await writer.hidePages([new], at: time)
                throw .incomplete(pages: [], failure)
            }
        }
        // The first draw of a room gives the board its size: that of this one, whatever its author's was.
        var isFirst = target.isProvisional
        let isLaid = count - entries.count
        var written = 0
        var batch: [OperationWriter.Operation] = []
        var batchBytes = 0
        for (place, entry) in entries.enumerated() {
            do throws(MalformedMessage) {
                batch.append(try operation(entry, onto: new, at: time, inUnitsOfBoard: isFirst))
            } catch {
                throw .room(.malformed)
            }
            isFirst = false
            batchBytes += entry.message.count
            let isFull = batchBytes >= Self.batchBytes || batch.count >= Self.batchOperations
            guard isFull || place == entries.count - 1 else { continue }
            let outcome = await writer.write(batch) { progress(written + $0 + isLaid, count) }
            written += outcome.applied
            if let failure = outcome.failure {
                // A page with nothing on it is not needed.
                if written == 0 { try? await writer.hidePages([new], at: time) }
                throw .incomplete(pages: written == 0 ? [] : [new], failure)
            }
            progress(written + isLaid, count)
            batch = []
            batchBytes = 0
        }
        return new
    }

    /// - Parameter inUnitsOfBoard: whether coordinates are to be those of the room's board, not of its author's.
    private func operation(
        _ entry: JoinedOperation, onto page: Int, at time: Int64?, inUnitsOfBoard: Bool
    ) throws(MalformedMessage) -> OperationWriter.Operation {
        let bytes = Array(entry.message)
        var header = try StrokeMessage(accepted: bytes)
        header.time = time
        header.page = page
        // Where a message does not say, its board was the room's.
        let (width, height) = (header.boardWidth ?? settings.width, header.boardHeight ?? settings.height)
        (header.boardWidth, header.boardHeight) = (width, height)
        guard inUnitsOfBoard, (width, height) != (settings.width, settings.height) else {
            return OperationWriter.Operation(header, interior: Array(bytes[header.points.interior]))
        }
        let (x, y) = (settings.width / width, settings.height / height)
        var points = header.decodePoints(of: bytes)
        for place in points.indices {
            points[place].x = min(max(points[place].x * x, -65536), 65536)
            points[place].y = min(max(points[place].y * y, -65536), 65536)
        }
        header.width = min(header.width * min(x, y), 512)
        if header.text != nil { header.width = max(header.width, BoardText.lineHeights.lowerBound) }
        (header.boardWidth, header.boardHeight) = (settings.width, settings.height)
        if case .lasso(let map?, let keepsOriginal)? = header.content {
            header.content = .lasso(map.scaled(x: x, y: y), keepsOriginal: keepsOriginal)
        }
        return OperationWriter.Operation(header, points: points)
    }
}

extension Paper {
    /// The operation that lays it under a page.
    /// - Parameter board: whose units it has where it does not say.
    func operation(page: Int, of board: BoardSettings, at time: Int64?) -> OperationWriter.Operation {
        let paper = Paper(kind, boardWidth: boardWidth ?? board.width, boardHeight: boardHeight ?? board.height)
        return OperationWriter.Operation(
            StrokeMessage(
                number: 0, action: .paper, time: time, boardWidth: paper.boardWidth, boardHeight: paper.boardHeight,
                page: page, content: .paper(paper)))
    }
}

extension LassoMap {
    /// The same map in other units.
    func scaled(x: Double, y: Double) -> LassoMap {
        func bounded(_ number: Double) -> Double { min(max(number, -Self.bound), Self.bound) }
        return LassoMap(
            a: a, b: bounded(b * y / x), c: bounded(c * x / y), d: d, e: bounded(e * x), f: bounded(f * y))
    }
}
