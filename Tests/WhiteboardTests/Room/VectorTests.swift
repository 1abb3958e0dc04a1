import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// The protocol's test vectors of rooms: what authors publish, and what they are told.
@Suite struct `The protocol's test vectors of rooms` {
    @Test func `have the stated feedback and operations, at the stated times`() throws {
        for vector in try ProtocolVectors.cases("rooms.json", of: RoomVector.self, atLeast: 20) {
            var probe = RoomProbe()
            let start = probe.now
            for step in vector.steps {
                probe.wait(start + .milliseconds(step.at) - probe.now)
                probe.send(step.message, by: try #require(AuthorID(step.author)), session: step.session)
            }
            probe.wait(start + .milliseconds(vector.until) - probe.now)
            let told = try probe.told.map { told in
                RoomVector.Told(
                    at: Int((told.at - start) / .milliseconds(1)), author: told.author.text,
                    body: try RoomVector.withoutSentence(told.feedback.encoded(session: told.session)))
            }
            #expect(told == vector.feedback, "\(vector.name)")
            #expect(probe.applied.count == vector.operations.count, "\(vector.name)")
            for (operation, expected) in zip(probe.applied, vector.operations) {
                #expect(try expected.describes(operation), "\(vector.name), operation \(operation.index)")
            }
        }
    }
}

private struct RoomVector: Decodable {
    struct Step: Decodable {
        let at: Int
        let author: String
        let session: String?
        let message: String
    }

    struct Told: Decodable, Equatable {
        let at: Int
        let author: String
        let body: AnyJSON
    }

    struct Numbered: Decodable {
        let index: UInt64
        let author: String
        let ref: UInt64?
        let late: Bool?
        let digest: String
        let message: AnyJSON

        /// A text is the message byte for byte, anything else its value.
        func describes(_ operation: Whiteboard.Operation) throws -> Bool {
            let bytes = operation.restoredMessage
            let isSame: Bool
            if case .string(let text) = message {
                isSame = Array(text.utf8) == bytes
            } else {
                isSame = try AnyJSON.decode(bytes) == message
            }
            return isSame && operation.index == index && operation.author.text == author
                && operation.reference == ref && operation.isLate == (late ?? false)
                && operation.digest.description == digest
        }
    }

    let name: String
    let steps: [Step]
    let until: Int
    let feedback: [Told]
    let operations: [Numbered]

    /// A body without the sentence of its error, which may change.
    static func withoutSentence(_ bytes: [UInt8]) throws -> AnyJSON {
        var body = try AnyJSON.decode(bytes)
        body["error"]?["message"] = nil
        return body
    }
}
