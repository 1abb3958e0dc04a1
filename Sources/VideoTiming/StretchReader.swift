internal import DequeModule
package import StrokeWire

/// A picture as it comes from a stream. Times are microseconds on the stream's own time line.
package struct TimedPicture: Sendable, Equatable {
    package var presentation: Int64
    package var decoding: Int64
    /// The media time that the picture carries.
    package var media: MediaTime?

    package init(presentation: Int64, decoding: Int64? = nil, media: MediaTime? = nil) {
        self.presentation = presentation
        self.decoding = decoding ?? presentation
        self.media = media
    }
}

/// A media time at a point of a stream's time line.
struct MediaMark: Sendable, Equatable {
    /// Microseconds on the stream's time line.
    let presentation: Int64
    let media: MediaTime

    /// What the media time is ahead of the stream's own.
    var offset: Int64 { media - MediaTime(microseconds: presentation) }
}

/// A part of a stream whose time line runs on without a jump.
struct Stretch: Sendable {
    /// When its first picture is shown.
    let start: Int64
    /// When its last picture so far ends.
    private(set) var end: Int64
    private var lastDecoding: Int64
    /// Microseconds from one picture to the next.
    private var interval: Int64 = 40_000
    /// By presentation time.
    private(set) var marks: Deque<MediaMark> = []
    /// Marks that disagree with the ones before and are not believed yet.
    private var doubted: [MediaMark] = []

    /// A step of the decoding time back by at most this much, or forward by at most `largestGap`, goes on with the
    /// stretch.
    private static let largestStepBack: Int64 = 500_000
    private static let largestGap: Int64 = 2_000_000
    /// Media times that are further from what the marks before say need others that agree.
    private static let agreement: UInt64 = 1_000_000

    init(_ first: TimedPicture) {
        start = first.presentation
        end = first.presentation + interval
        lastDecoding = first.decoding
    }

    func continues(with picture: TimedPicture) -> Bool {
        let step = picture.decoding &- lastDecoding
        return step >= -Self.largestStepBack && step <= Self.largestGap
    }

    /// - Parameter confirmations: how many marks have to agree on a jump of the media time, at least 1.
    mutating func append(_ picture: TimedPicture, confirmations: Int) {
        let step = picture.decoding - lastDecoding
        if step > 0 {
            interval = min(step, 1_000_000)
            lastDecoding = picture.decoding
        }
        end = max(end, picture.presentation + interval)
        if let media = picture.media {
            mark(MediaMark(presentation: picture.presentation, media: media), confirmations)
        }
    }

    mutating func mark(_ mark: MediaMark, _ confirmations: Int) {
        let agrees = { (other: MediaMark) in (mark.offset &- other.offset).magnitude <= Self.agreement }
        if marks.isEmpty ? confirmations <= 1 : agrees(marks[marks.count - 1]) {
            doubted = []
            insert(mark)
        } else {
            if let last = doubted.last, !agrees(last) { doubted = [] }
            doubted.append(mark)
            guard doubted.count >= confirmations else { return }
            for mark in doubted { insert(mark) }
            doubted = []
        }
    }

    private mutating func insert(_ mark: MediaMark) {
        var index = marks.count
        while index > 0, marks[index - 1].presentation > mark.presentation { index -= 1 }
        if index > 0, marks[index - 1].presentation == mark.presentation {
            marks[index - 1] = mark
        } else {
            marks.insert(mark, at: index)
        }
    }

    /// The media time of what is shown at `position`, not beyond that of the mark that comes next; nil while nothing
    /// tells it.
    func media(at position: Int64) -> MediaTime? {
        guard let first = marks.first else { return nil }
        let next = marks.partitioningIndex { $0.presentation > position }
        guard next > 0 else { return first.media + (position - first.presentation) }
        let mark = marks[next - 1]
        let media = mark.media + (position - mark.presentation)
        guard next < marks.count, marks[next].media >= mark.media else { return media }
        return min(media, marks[next].media)
    }

    /// Forgets marks that are shown no more.
    mutating func forget(before position: Int64) {
        while marks.count > 1, marks[1].presentation <= position { marks.removeFirst() }
    }
}

/// Divides the pictures of a stream into stretches. Damage may give a picture any time: a new stretch begins when three
/// pictures in a row agree on it.
struct StretchReader: Sendable {
    private(set) var stretches: Deque<Stretch> = []
    /// Pictures that do not continue the last stretch.
    private var strays: [TimedPicture] = []
    private var isCut = false
    /// Marks that lie before or behind all pictures so far.
    private var loose: [MediaMark] = []
    /// How many marks have to agree on a jump of the media time.
    let confirmations: Int

    private static let required = 3
    private static let mostLoose = 64
    /// Microseconds between a picture's decoding and its presentation.
    private static let largestComposition: UInt64 = 10_000_000

    init(confirmations: Int) {
        self.confirmations = confirmations
    }

    /// The number of marks kept.
    var markCount: Int { stretches.reduce(0) { $0 + $1.marks.count } }

    /// The next picture begins a new stretch, whatever its time.
    mutating func cut() {
        settle()
        isCut = !stretches.isEmpty
        // They are of the time line that has ended.
        loose = []
    }

    /// Takes the pictures that wait for others that agree with them, at the end of what there is.
    mutating func settle() {
        if stretches.isEmpty || isCut, !strays.isEmpty { begin() }
        strays = []
    }

    mutating func append(_ picture: TimedPicture) {
        // Of two times so far apart one is damaged. A stretch would take its beginning and its end from it.
        guard (picture.presentation &- picture.decoding).magnitude <= Self.largestComposition else { return }
        if !isCut, let last = stretches.indices.last, stretches[last].continues(with: picture) {
            strays = []
            stretches[last].append(picture, confirmations: confirmations)
            placeMarks()
            return
        }
        if let previous = strays.last {
            var run = Stretch(previous)
            run.append(previous, confirmations: confirmations)
            if !run.continues(with: picture) { strays = [] }
        }
        strays.append(picture)
        if strays.count >= Self.required { begin() }
    }

    private mutating func begin() {
        var stretch = Stretch(strays[0])
        for picture in strays { stretch.append(picture, confirmations: confirmations) }
        stretches.append(stretch)
        strays = []
        isCut = false
        placeMarks()
    }

    /// Moves on to the next stretch.
    mutating func removeFirst() { stretches.removeFirst() }

    mutating func keepLast() { stretches.removeFirst(stretches.count - 1) }

    /// Adds a mark that comes apart from the pictures. It counts when the pictures have come to it.
    mutating func mark(_ presentation: Int64, _ media: MediaTime) {
        if loose.count >= Self.mostLoose { loose.removeFirst() }
        loose.append(MediaMark(presentation: presentation, media: media))
        placeMarks()
    }

    private mutating func placeMarks() {
        guard !loose.isEmpty, !isCut, let last = stretches.indices.last else { return }
        let waiting = loose
        loose = []
        // A player shows what is there before the first picture together with it.
        let earliest = stretches[last].start - 1_000_000
        for mark in waiting {
            if mark.presentation >= earliest, mark.presentation <= stretches[last].end {
                stretches[last].mark(mark, confirmations)
            } else {
                loose.append(mark)
            }
        }
    }

    mutating func forget(before position: Int64) {
        if !stretches.isEmpty { stretches[0].forget(before: position) }
    }
}
