/// Tells when the stream's end as of the start of reading has been delivered. Pure.
struct CatchUp {
    private(set) var isDone = false
    private var remaining: UInt64?
    private var isIdle = false

    /// Reading begins, for the first time or anew, with so many messages to come; whether that is the end.
    mutating func began(pending: UInt64) -> Bool {
        (remaining, isIdle) = (pending, false)
        return pending == 0 ? finish() : false
    }

    /// A message with so many after it; whether the end has just been reached.
    mutating func message(pending: UInt64) -> Bool {
        guard !isDone else { return false }
        isIdle = false
        if let left = remaining { remaining = left > 0 ? left - 1 : 0 }
        return pending == 0 || remaining == 0 ? finish() : false
    }

    /// The server says that it is there and has sent nothing of late. The second time in a row it has nothing to
    /// send: what was still to come has gone by its age.
    mutating func idle() -> Bool {
        defer { isIdle = true }
        return isIdle ? finish() : false
    }

    private mutating func finish() -> Bool {
        defer { isDone = true }
        return !isDone
    }
}
