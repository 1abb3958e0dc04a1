public import StrokeWire

extension StudentSession {
    /// The answer to a request. One to a request that is no longer of interest is ignored.
    public mutating func joined(_ reply: JoinReply, ticket: Int, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard case .joining(let request, ticket, let since) = phase else { return actions }
        // What came before the request, of an incarnation that is not the answer's, is of the past.
        waiting.drop(through: 0, of: reply.room, othersBefore: reply.room.isEmpty ? .zero : since)
        // The room was closed: what waits of the life that we knew is over, too.
        if reply.room.isEmpty, !board.room.isEmpty { waiting.drop(room: board.room) }
        phase = .live
        let before = (board.room, board.index)
        switch reply.content {
        case .board: takeBoard(reply, request, at: now, &actions)
        case .tail(let operations): applyTail(operations, reply, request, at: now, &actions)
        }
        guard phase == .live else { return actions }
        report.joins += 1
        hasBoard = true
        needsBoard = false
        if board.room.isEmpty, let room = waiting.newestRoom { board.room = room }
        if (board.room, board.index) != before { fruitlessJoins = 0 }
        waiting.drop(through: board.index, of: board.room, othersBefore: .zero)
        proceed(at: now, &actions)
        // A mark of another life came while we asked, maybe the only one that tells of a close.
        if let marked = markedRoom, marked != board.room {
            markedRoom = nil
            needsBoard = true
            rejoin(at: now, &actions)
        }
        return actions
    }

    /// The request was refused, or nobody answered it.
    public mutating func joinFailed(_ why: JoinFailure, ticket: Int, at now: Duration) -> [StudentAction] {
        guard case .joining(_, ticket, _) = phase else { return [] }
        report.failedJoins += 1
        phase = .pausing(until: now + currentPatience)
        fruitlessJoins += 1
        return [.tell(.problem(.joinFailed(why)))]
    }

    private mutating func takeBoard(
        _ reply: JoinReply, _ request: JoinRequest, at now: Duration, _ actions: inout [StudentAction]
    ) {
        // A service that was restored from a checkpoint may be behind us for a while: released is final.
        if request.have == nil || reply.room != board.room || reply.index >= board.index {
            do throws(MalformedRelease) {
                let taken = try StudentBoard(reply)
                if taken.room != board.room { markedIndex = 0 }
                board = taken
            } catch {
                diverged(error.description, at: now, &actions)
                return
            }
        }
        tellOfJoin(&actions)
    }

    private func tellOfJoin(_ actions: inout [StudentAction]) {
        actions.append(
            .tell(.joined(room: board.room, index: board.index, digest: board.digest, visible: board.visible.count)))
    }

    private mutating func applyTail(
        _ operations: [JoinedOperation], _ reply: JoinReply, _ request: JoinRequest, at now: Duration,
        _ actions: inout [StudentAction]
    ) {
        guard request.have != nil, reply.room == board.room else {
            diverged("a tail of \(reply.room) came for a board of \(board.room)", at: now, &actions)
            return
        }
        tellOfJoin(&actions)
        for joined in operations where joined.index > board.index {
            do throws(MalformedRelease) {
                guard apply(try ReleasedOperation(joined), at: now, &actions) else { return }
            } catch {
                diverged(error.description, at: now, &actions)
                return
            }
        }
        if reply.index > board.index {
            diverged("a tail up to \(reply.index) ended at \(board.index)", at: now, &actions)
        } else if reply.index == board.index, reply.digest != board.digest {
            diverged("digest \(board.digest) at \(board.index), the join says \(reply.digest)", at: now, &actions)
        }
    }
}
