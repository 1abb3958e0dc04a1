public import StrokeWire

/// The lesson that comes with Lectern: some ninety seconds of a physics and maths class on two boards.
///
/// Written by this code alone: letters, words, figures, corrections. Everything a message can say occurs in it:
/// all elements and actions, sharded strokes, several colours and widths, undo and redo runs, a clear.
public enum DemoLesson {
    /// The lesson; the same for the same seed on every machine.
    ///
    /// - Parameter seed: how the hand shakes and how long it rests. What is written is always the same.
    /// - Throws: a message that this code should not have made; no seed is known to do that.
    public static func make(seed: UInt64 = 1) throws(MalformedMessage) -> Lesson {
        var hand = DemoHand(seed: seed)
        for step in DemoScript.firstBoard + [.clear, .pause(milliseconds: 900)] + DemoScript.secondBoard {
            hand.perform(step)
        }
        var messages: [(bytes: [UInt8], header: StrokeMessage)] = []
        for bytes in hand.messages {
            messages.append((bytes, try StrokeMessage(decoding: bytes)))
        }
        return Lesson(messages)
    }
}
