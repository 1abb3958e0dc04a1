import StrokeWire
import TestSupport
import Testing

/// Bodies of strokes being drawn.
@Suite struct `Wet ink` {
    @Test func `is decoded as the test vectors state, or rejected with the stated code`() throws {
        for vector in try ProtocolVectors.cases("wet.json", of: WetVector.self, atLeast: 52) {
            let bytes = Array(vector.message.utf8)
            do throws(Rejection) {
                let read =
                    vector.kind == "update"
                    ? WetVector.json(of: try WetUpdate(decoding: bytes, limits: vector.limitsInForce))
                    : WetVector.json(of: try WetRelease(decoding: bytes, limits: vector.limitsInForce))
                #expect(read == vector.accepted, "\(vector.name)")
            } catch {
                #expect(vector.rejected?.code == error.code.rawValue, "\(vector.name): \(error.message)")
                #expect(vector.rejected?.field == error.field, "\(vector.name): \(error.message)")
            }
        }
    }

    @Test(arguments: TestSeed.choose(8))
    func `is written and read back as the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let update = WetVector.update(&random)
            #expect(try WetUpdate(decoding: update.encoded()) == update, "seed \(seed)")
            let release = try WetVector.release(of: update, &random)
            #expect(try WetRelease(decoding: release.encoded()) == release, "seed \(seed)")
        }
    }

    @Test(arguments: TestSeed.choose(8))
    func `is read from no bytes that are damaged with a trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = WetVector.update(&random).encoded()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
            }
            _ = try? WetUpdate(decoding: bytes)
            _ = try? WetRelease(decoding: bytes)
        }
    }

    @Test func `stands on the wire as documented`() throws {
        let points = WetPoints(
            style: WetStrokeStyle(colour: 1, width: 3, time: 1200, boardWidth: 1024, boardHeight: 768),
            first: 12, points: [StrokePoint(x: 10.5, y: 20, milliseconds: 180)], predicted: [StrokePoint(x: 11, y: 22)])
        #expect(
            String(decoding: WetUpdate(number: 7, update: 3, .points(points)).encoded(), as: UTF8.self)
                == #"{"n":7,"u":3,"k":12,"c":1,"l":3,"e":0,"t":1200,"w":1024,"h":768,"d":[{"x":10.5,"y":20,"m":180}],"p":[{"x":11,"y":22}]}"#
        )
        #expect(
            String(decoding: WetUpdate(number: 7, update: 9, .givenUp).encoded(), as: UTF8.self)
                == #"{"n":7,"u":9,"x":true}"#)
        let author = try #require(AuthorID("anna"))
        var released = points
        released.predicted = []
        #expect(
            String(
                decoding: WetRelease(author: author, session: "s", number: 7, .points(released)).encoded(),
                as: UTF8.self)
                == #"{"author":"anna","session":"s","n":7,"k":12,"page":0,"c":1,"l":3,"e":0,"t":1200,"w":1024,"h":768,"d":[{"x":10.5,"y":20,"m":180}]}"#
        )
        #expect(
            String(decoding: WetRelease(author: author, session: nil, number: 7, .givenUp).encoded(), as: UTF8.self)
                == #"{"author":"anna","n":7,"x":true}"#)
    }
}

private struct WetVector: Decodable {
    struct Rejected: Decodable {
        let code: String
        let field: String?
    }

    struct Limits: Decodable {
        let bytes, points: Int?
    }

    let name, kind, message: String
    let accepted: AnyJSON?
    let rejected: Rejected?
    let limits: Limits?

    var limitsInForce: WireLimits {
        var result = WireLimits()
        if let bytes = limits?.bytes { result.messageBytes = bytes }
        if let points = limits?.points { result.points = points }
        return result
    }

    static func json(of update: WetUpdate) -> AnyJSON {
        var members: [String: AnyJSON] = [
            "n": .number(Double(update.number)), "u": .number(Double(update.update)),
        ]
        switch update.content {
        case .givenUp: members["x"] = .bool(true)
        case .points(let points):
            add(points, to: &members)
            if let page = points.style.page { members["g"] = .number(Double(page)) }
        }
        return .object(members)
    }

    static func json(of release: WetRelease) -> AnyJSON {
        var members: [String: AnyJSON] = [
            "author": .string(release.author.text), "n": .number(Double(release.number)),
        ]
        if let session = release.session { members["session"] = .string(session) }
        if let index = release.index { members["index"] = .number(Double(index)) }
        switch release.content {
        case .givenUp: members["x"] = .bool(true)
        case .points(let points):
            add(points, to: &members)
            members["page"] = .number(Double(points.style.page ?? -1))
        }
        return .object(members)
    }

    private static func add(_ points: WetPoints, to members: inout [String: AnyJSON]) {
        members["k"] = .number(Double(points.first))
        members["c"] = .number(Double(points.style.colour))
        members["l"] = .number(points.style.width)
        members["e"] = .number(Double(points.style.element.rawValue))
        if let time = points.style.time { members["t"] = .number(Double(time)) }
        if let width = points.style.boardWidth { members["w"] = .number(width) }
        if let height = points.style.boardHeight { members["h"] = .number(height) }
        members["d"] = .array(points.points.map(json))
        members["p"] = .array(points.predicted.map(json))
    }

    private static func json(of point: StrokePoint) -> AnyJSON {
        var members: [String: AnyJSON] = ["x": .number(point.x), "y": .number(point.y)]
        if let force = point.force { members["f"] = .number(force) }
        if let altitude = point.altitude { members["i"] = .number(altitude) }
        if let azimuth = point.azimuth { members["z"] = .number(azimuth) }
        if let milliseconds = point.milliseconds { members["m"] = .number(milliseconds) }
        return .object(members)
    }

    static func update(_ random: inout SeededGenerator) -> WetUpdate {
        let number = Int64.random(in: 0...1 << 50, using: &random)
        let update = Int64.random(in: 1...1 << 50, using: &random)
        guard Int.random(in: 0..<8, using: &random) > 0 else {
            return WetUpdate(number: number, update: update, .givenUp)
        }
        var style = WetStrokeStyle(
            colour: UInt32.random(in: 0..<8, using: &random), width: Double.random(in: 0.1...500, using: &random),
            element: Element.allCases.filter(\.isStroke).randomElement(using: &random) ?? .freehand)
        if Bool.random(using: &random) { style.time = Int64.random(in: -1000...1 << 60, using: &random) }
        if Bool.random(using: &random) { style.boardWidth = Double.random(in: 1...16384, using: &random) }
        if Bool.random(using: &random) { style.boardHeight = Double.random(in: 1...16384, using: &random) }
        if Bool.random(using: &random) { style.page = Int.random(in: 0...999, using: &random) }
        return WetUpdate(
            number: number, update: update,
            .points(
                WetPoints(
                    style: style, first: Int.random(in: 0...1000, using: &random), points: points(&random),
                    predicted: points(&random))))
    }

    private static func points(_ random: inout SeededGenerator) -> [StrokePoint] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
            StrokePoint(
                x: Double.random(in: -65536...65536, using: &random),
                y: Double(Int.random(in: 0...999, using: &random)),
                force: Bool.random(using: &random) ? Double.random(in: 0...1, using: &random) : nil,
                milliseconds: Bool.random(using: &random) ? Double.random(in: 0...1e4, using: &random) : nil)
        }
    }

    static func release(of update: WetUpdate, _ random: inout SeededGenerator) throws -> WetRelease {
        let author = try #require(AuthorID("anna"))
        let session = Bool.random(using: &random) ? "s-1\"" : nil
        guard case .points(var points) = update.content else {
            return WetRelease(author: author, session: session, number: update.number, .givenUp)
        }
        points.style.page = points.style.page ?? 0
        return WetRelease(
            author: author, session: session, number: update.number,
            index: Bool.random(using: &random) ? UInt64.random(in: 1...1 << 60, using: &random) : nil, .points(points))
    }
}
