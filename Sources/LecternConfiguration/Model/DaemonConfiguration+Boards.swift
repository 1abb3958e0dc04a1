public import Ink
public import Whiteboard

extension DaemonConfiguration {
    /// The size of every room's board, in board units.
    public struct Board: Sendable, Equatable {
        /// 1 … 16384; 0 takes it from the first draw of a room.
        public var width = 0.0
        /// 1 … 16384; 0 takes it from the first draw of a room.
        public var height = 0.0
    }

    /// What the colour of a message means.
    public enum ColourMode: String, Sendable, CaseIterable {
        /// An index into ``DaemonConfiguration/palette``.
        case palette
        /// `0xRRGGBB`.
        case rgb
    }

    /// What is taken in, at most.
    public struct Limits: Sendable, Equatable {
        /// What one room takes in. What its colours mean follows from ``DaemonConfiguration/colour`` and
        /// ``DaemonConfiguration/palette``; see ``DaemonConfiguration/room``.
        public var intake = IntakeLimits()
        /// Rooms of one daemon.
        public var rooms = 10_000
    }

    /// How released operations are sent.
    public struct Fanout: Sendable, Equatable {
        /// A stroke that was joined from shards goes out in messages of at most so many bytes.
        public var maxBytes = 64 << 10
    }

    /// How strokes are drawn.
    public struct Ink: Sendable, Equatable {
        /// How the points of a freehand stroke or an eraser become ink.
        public var style = InkStyle.smooth
    }

    /// The picture of a room.
    public struct Canvas: Sendable, Equatable {
        /// Pixels for one board unit, 0.25 … 8.
        public var scale = 1.0
        /// Bytes of tiles kept, of all rooms.
        public var memory = 256 << 20
    }
}
