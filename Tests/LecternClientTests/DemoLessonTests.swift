import LecternClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternDemo

@Suite("The lesson that comes with Lectern")
struct DemoLessonTests {
    private static let seeds = TestSeed.choose(5)

    @Test("is the same for the same seed, and another for another")
    func deterministic() throws {
        #expect(try DemoLesson.make(seed: 5).messages == DemoLesson.make(seed: 5).messages)
        #expect(try DemoLesson.make(seed: 5).ndjson != DemoLesson.make(seed: 6).ndjson)
    }

    @Test("is read back as it was written, whatever the seed", arguments: seeds)
    func valid(_ seed: UInt64) throws {
        let lesson = try DemoLesson.make(seed: seed)
        #expect(try Lesson(ndjson: lesson.ndjson).messages == lesson.messages)
    }

    @Test("has some hundred strokes of all kinds in about a minute and a half", arguments: seeds)
    func size(_ seed: UInt64) throws {
        let statistics = LessonStatistics(try DemoLesson.make(seed: seed))
        #expect(200...400 ~= statistics.strokes)
        #expect(Duration.seconds(75) <= statistics.duration && statistics.duration <= .seconds(110))
        #expect(Set(statistics.elements.keys) == Set(Element.allCases))
        #expect(Set(statistics.commands.keys) == [.undo, .redo, .clear])
        #expect(statistics.commands[.clear] == 1)
        #expect(statistics.shardedStrokes >= 3)
    }

    @Test("uses several colours and widths")
    func pens() throws {
        let strokes = try DemoLesson.make().messages.filter { $0.header.action == .draw }
        #expect(Set(strokes.map(\.header.colour)).count >= 5)
        #expect(Set(strokes.map(\.header.width)).count >= 4)
    }

    @Test("counts its operations from 1, and its media time never goes back", arguments: seeds)
    func order(_ seed: UInt64) throws {
        let messages = try DemoLesson.make(seed: seed).messages
        var number: Int64 = 0
        for message in messages {
            #expect(message.header.number == number || message.header.number == number + 1)
            number = message.header.number
        }
        let times = messages.compactMap(\.header.time)
        #expect(times.count == messages.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("never takes back or does again what is not there")
    func history() throws {
        var (done, undone) = (0, 0)
        var numbers: Set<Int64> = []
        for message in try DemoLesson.make().messages where numbers.insert(message.header.number).inserted {
            switch message.header.action {
            case .draw: (done, undone) = (done + 1, 0)
            case .undo: (done, undone) = (done - 1, undone + 1)
            case .redo: (done, undone) = (done + 1, undone - 1)
            case .clear: (done, undone) = (0, 0)
            }
            #expect(done >= 0 && undone >= 0)
        }
    }

    @Test("stays on the board", arguments: seeds)
    func board(_ seed: UInt64) throws {
        for message in try DemoLesson.make(seed: seed).messages {
            for point in message.header.decodePoints(of: message.bytes) {
                #expect(0...1024 ~= point.x && 0...768 ~= point.y)
            }
        }
    }

    @Test("its alphabet has every letter that it writes")
    func letters() {
        for case .write(let text, _, _, _) in DemoScript.firstBoard + DemoScript.secondBoard {
            for letter in text where letter != " " && letter != "^" && letter != "_" {
                #expect(Alphabet.letters[letter] != nil, "\(letter)")
            }
        }
    }

    @Test("every letter is well formed: strokes of places within its grid", arguments: Alphabet.letters.keys.sorted())
    func glyph(_ letter: Character) throws {
        let strokes = try #require(Alphabet.strokes(of: letter))
        let text = try #require(Alphabet.letters[letter])
        #expect(strokes.joined().count == text.split { " |".contains($0) }.count)
        for stroke in strokes {
            #expect(!stroke.isEmpty)
            #expect(stroke.allSatisfy { 0...14 ~= $0.x && 0...20 ~= $0.y })
        }
    }
}
