// What a student's board and a replay tell the page: records at `output`, each a word with the kind, a word with the number of
// words that follow, and these. Texts are their length in bytes, and four bytes in a word; floats of 64 bits are two words.
// Times are milliseconds; NaN is none. `Record` has the kinds, and what is in them.

internal import CWebShims
internal import ClientCore
internal import Scene
internal import StrokeWire
internal import Whiteboard

/// Kinds of records.
enum Record {
    /// Of a student: index shown and received, 64 bits each; digest; width and height of the board, 64 bits each; the
    /// page that is drawn and the one that is shown; strokes on it; bits: 1 joined, 2 a redo may find something, 4 the
    /// page was cleared, 8 an undo may bring back what was removed from it; the gate: 0 unknown, 1 open, 2 a video's;
    /// how many wait, how far the last is ahead, when to look, and when to look at strokes being drawn, 64 bits each.
    /// Of a replay: see `Replay.swift`.
    static let state: UInt32 = 0
    /// Incarnation; style; colours; names of features.
    static let joined: UInt32 = 1
    static let incarnation: UInt32 = 2
    /// Index; page; what it refers to, 64 bits; whether it is late; digest; author; message.
    static let operation: UInt32 = 3
    /// Index; digest; author: shown now.
    static let index: UInt32 = 4
    /// The page shown; pages in their order; those out of sight; for each page with a paper its number and the paper's: that of
    /// the ruling, or 5 for a slide.
    static let pages: UInt32 = 5
    /// Number of the stroke, 64 bits; points; author.
    static let wet: UInt32 = 6
    /// Author; name.
    static let named: UInt32 = 7
    /// Milliseconds, 64 bits; whether it counts.
    static let skew: UInt32 = 8
    /// As in the state.
    static let gate: UInt32 = 9
    /// Media time of the cohort's video.
    static let clock: UInt32 = 10
    /// Number, 64 bits; author; session, empty for none; incarnation.
    static let covered: UInt32 = 11
    /// Why: read the stream anew.
    static let restart: UInt32 = 12
    /// All of the page is drawn anew.
    static let painted: UInt32 = 13
    /// An image is shown, or a slide is laid under a page: its asset.
    static let image: UInt32 = 14
    /// Incarnation; last operation, 64 bits; how many are kept; how many encoder sessions, and of each five times 64 bits: its
    /// number, its first and its last operation, the media times of these.
    static let lesson: UInt32 = 15
    /// What is to be fetched: `from`, `after`, `limit` and `ep`, 64 bits each; the incarnation, empty for none.
    static let request: UInt32 = 16
    /// The pointers that are seen: how many, and of each its colour as `0xRRGGBB`, the width of its line in board
    /// units, 64 bits, how many places its trail has, and the places, the oldest first and the tip last: x, y in board
    /// units and opacity, 64 bits each. A tip that is not seen has the opacity 0.
    static let pointers: UInt32 = 17
    /// When pages came to be shown, as far as that is known: how many times, and of each the index of an operation and
    /// its media time, 64 bits each, and the page. Of a student's board that was joined these are the first strokes
    /// that are seen on each page.
    static let visits: UInt32 = 18
}

/// Shows the board of the instance on its picture.
nonisolated(unsafe) var painter = PlayoutPainter()

/// Shows entries above the board, or above the entries of a page without one.
func showOwn(_ entries: [Picture.Entry]) {
    if isStudent {
        painter.showOwn(entries, of: &playout, on: picture)
    } else if isReplay {
        painter.showOwn(entries, of: &lesson, on: picture)
    } else {
        picture.showLive(entries)
    }
}

var now: Duration { duration(milliseconds: page_now()) }

package func duration(milliseconds: Double) -> Duration {
    // A day and more is never waited for; NaN is not greater than 0.
    .microseconds(milliseconds > 0 ? Int64((min(milliseconds, 1e12) * 1000).rounded()) : 0)
}

func time(_ milliseconds: Double) -> MediaTime? {
    milliseconds.isNaN ? nil : MediaTime(milliseconds: min(max(milliseconds, -0x1p53), 0x1p53))
}

func milliseconds(_ time: MediaTime?) -> Double { time.map { Double($0.microseconds) / 1000 } ?? .nan }

package func milliseconds(_ duration: Duration?) -> Double { duration?.milliseconds ?? .nan }

extension Paper {
    fileprivate var number: Int {
        if case .ruled(let ruling, _) = kind { Int(ruling.rawValue) } else { 5 }
    }
}

extension Buffers {
    mutating func appendIndex(_ index: UInt64, _ digest: BoardDigest, _ author: AuthorID?) {
        record(Record.index) {
            $0.append(Double(index))
            $0.append(digest)
            $0.append(author?.text ?? "")
        }
    }

    mutating func appendPages(_ pages: BoardPages) {
        record(Record.pages) {
            $0.output.append(UInt32(pages.shown))
            $0.append(pages.order)
            $0.append(pages.hidden)
            $0.append(pages.papers.flatMap { [$0.page, $0.paper.number] })
        }
    }

    mutating func append(visits: [(index: UInt64, page: Int, time: MediaTime?)]) {
        record(Record.visits) {
            $0.output.append(UInt32(visits.count))
            for visit in visits {
                $0.append(Double(visit.index))
                $0.append(milliseconds(visit.time))
                $0.output.append(UInt32(visit.page))
            }
        }
    }

    /// Appends the record of an action, if it has one.
    mutating func append(_ action: PlayoutAction, of board: StudentBoard) {
        switch action {
        case .incarnation(let room): record(Record.incarnation) { $0.append(room) }
        case .applied(let operation, _, _):
            record(Record.operation) {
                $0.append(Double(operation.index))
                $0.output.append(UInt32(operation.page))
                $0.append(operation.reference.map { Double($0) } ?? .nan)
                $0.output.append(operation.isLate ? 1 : 0)
                $0.append(operation.digest ?? board.digest)
                $0.append(operation.author.text)
                $0.append(operation.bytes)
            }
        case .grew(let author, let number, let points):
            record(Record.wet) {
                $0.append(Double(number))
                $0.output.append(UInt32(points))
                $0.append(author.text)
            }
        case .named(let author, let name):
            record(Record.named) {
                $0.append(author.text)
                $0.append(name)
            }
        case .skew(let skew, let isCounted):
            record(Record.skew) {
                $0.append(milliseconds(skew))
                $0.output.append(isCounted ? 1 : 0)
            }
        case .gate(let gate): record(Record.gate) { $0.output.append(gate == .open ? 1 : 2) }
        case .clock(let video): record(Record.clock) { $0.append(milliseconds(video)) }
        case .covered(let covered, let room):
            record(Record.covered) {
                $0.append(Double(covered.number))
                $0.append(covered.author.text)
                $0.append(covered.session ?? "")
                $0.append(room)
            }
        case .restart(let why): record(Record.restart) { $0.append(why) }
        case .joined, .unveiled, .wetInkChanged, .pointersChanged: break
        }
    }

    mutating func appendPointers(of board: some PlayedBoard) {
        let isRGB = board.features.contains(.rgbColours)
        record(Record.pointers) {
            $0.output.append(UInt32(board.pointers.count))
            for pointer in board.pointers {
                let colour = isRGB ? pointer.colour : board.palette[pointer.colour] ?? 0
                $0.output.append(picture.isShownDark ? DarkBoard.colour(colour) : colour)
                $0.append(pointer.width)
                $0.output.append(UInt32(pointer.trail.count))
                let hidden = PointerSight.Place(x: 0, y: 0, opacity: 0)
                for place in pointer.trail + [pointer.tip ?? hidden] {
                    $0.append(place.x)
                    $0.append(place.y)
                    $0.append(place.opacity)
                }
            }
        }
    }

    /// Appends a record for each image that a change shows.
    mutating func appendImages(of change: FollowedBoard.Change) {
        if let asset = change.paper?.asset { record(Record.image) { $0.append(asset.description) } }
        for stroke in change.shown where stroke.kind == .image {
            guard let asset = stroke.image?.asset else { continue }
            record(Record.image) { $0.append(asset.description) }
        }
    }
}
