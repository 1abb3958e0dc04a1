internal import Ink
internal import StrokeWire
package import TestSupport

/// Calls whose right answers other tests know natively: the protocol's vectors, and lessons in every style. A core that answers
/// as the native one does is right in them too.
package enum KnownCalls {
    /// The names of all ink styles, the stamps' tips among them.
    package static let styles = InkStyle.allCases.flatMap { style in
        style == .stamp ? InkTip.allCases.map { style.name(tip: $0) } : [style.rawValue]
    }

    /// A student's page that is sent each vector of a message on an empty board, and what the vectors of digests and of students
    /// send.
    package static func vectors() throws -> [CoreCall] {
        var calls = [CoreCall(.studentBegin, [0, 0, 30_000]), CoreCall(.studentResize, [200])]
        func receive(_ kind: Double, _ data: [UInt8]) {
            calls.append(CoreCall(.studentReceive, [kind, .nan], input: data))
        }
        for vector in try ProtocolVectors.cases("messages.json", of: MessageVector.self, atLeast: 70) {
            guard let message = vector.message else { continue }
            receive(0, GatewayEvent.emptyBoard)
            receive(1, GatewayEvent.operation(1, message))
            calls.append(CoreCall(.draw, [.infinity]))
        }
        for sequence in try ProtocolVectors.read("digests.json", as: DigestVectors.self).sequences {
            receive(0, GatewayEvent.emptyBoard)
            for operation in sequence.operations { receive(1, operation.event) }
        }
        for vector in try ProtocolVectors.cases("students.json", of: StudentVector.self, atLeast: 16) {
            for step in vector.steps {
                if let event = step.event { receive(1, event) }
                if let reply = step.reply { receive(0, Array(reply.utf8)) }
                if let mark = step.mark { receive(3, Array(mark.utf8)) }
            }
        }
        return calls
    }

    /// A page that plays the last operations of a lesson: those after an index.
    package static func replay(after index: UInt64) -> [CoreCall] {
        let begin = [
            CoreCall(.replayBegin, [0, 1e6, .nan]), CoreCall(.replayResize, [200]), CoreCall(.replayRequest),
            CoreCall(.replayReceive, input: GatewayEvent.lesson(after: index)), CoreCall(.replayAdd, [.infinity]),
        ]
        // All of it, then back, and on from there.
        return begin + [3500, 1500, 2500].flatMap { [CoreCall(.replayLook, [$0]), CoreCall(.draw, [.infinity])] }
    }

    /// A page that draws the strokes of a lesson and reads their pixels.
    /// - Parameter style: as in the settings, with its tip behind a hyphen.
    package static func lesson(_ lesson: SampleLesson, in style: String) throws -> [CoreCall] {
        let head = [UInt8(style.utf8.count)] + Array(style.utf8) + [0, 0, 0, 0]
        var calls = [CoreCall(.show, [1024, 768, 512], input: head)]
        for (place, message) in try lesson.messages().enumerated() {
            guard try StrokeMessage(decoding: message).action == .draw else { continue }
            calls.append(CoreCall(.insert, [Double(place + 1)], input: message))
        }
        calls.append(CoreCall(.draw, [.infinity]))
        return calls + [CoreCall](repeating: CoreCall(.nextBox), count: 16)
    }
}

private struct MessageVector: Decodable {
    let message: String?
}

private struct DigestVectors: Decodable {
    struct Sequence: Decodable {
        let operations: [Operation]
    }

    struct Operation: Decodable {
        let index: UInt64
        let action, digest: String
        let ref: UInt64?
        let v: [UInt64]?

        var event: [UInt8] {
            let keys =
                switch action {
                case "undo": "\"a\":2"
                case "redo": "\"a\":3"
                case "clear": "\"a\":4"
                case "turn": "\"a\":5,\"g\":0"
                case "arrange": "\"a\":6,\"v\":[0]"
                case "paper": "\"a\":7,\"p\":1"
                case "remove": "\"a\":8,\"v\":\(v ?? [])"
                case "pointer": "\"e\":7,\"d\":[{\"x\":1,\"y\":1,\"m\":0}]"
                default: "\"d\":[{\"x\":1,\"y\":1}]"
                }
            return KnownCalls.event(index, digest: digest, reference: ref.map { "\($0)" }, "{\"n\":\(index),\(keys)}")
        }
    }

    let sequences: [Sequence]
}

private struct StudentVector: Decodable {
    struct Step: Decodable {
        let headers: [String: String]?
        let body, reply, mark: String?

        var event: [UInt8]? {
            guard let headers, let body, let index = headers["Ink-Index"].flatMap(UInt64.init) else { return nil }
            return KnownCalls.event(
                index, digest: headers["Ink-Digest"] ?? "", reference: headers["Ink-Ref"],
                page: headers["Ink-Page"] ?? "0", body)
        }
    }

    let steps: [Step]
}

extension KnownCalls {
    fileprivate static func event(
        _ index: UInt64, digest: String, reference: String?, page: String = "0", _ message: String
    ) -> [UInt8] {
        let reference = reference.map { ",\"ref\":\($0)" } ?? ""
        return Array(
            "{\"index\":\(index),\"author\":\"anna\",\"page\":\(page)\(reference),\"digest\":\"\(digest)\",\"message\":\(message)}"
                .utf8)
    }
}
