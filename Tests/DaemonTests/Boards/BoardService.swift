// What daemons show and store of boards: pictures, assets, slides, imports and copies of pages, each file made by another
// library than the one that reads it.

import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A daemon with a journal, what asks it over HTTP, and who looks at its rooms over NATS.
struct BoardService: Sendable {
    let http: HTTPClient
    let daemon: DaemonProcess
    let nats: NATSTestServer
    let connection: NATSConnection

    /// Settings of boards with pages whose clocks stand still for long.
    static let boards = [
        "board.features=pages,images,lasso", "cohorts.default.stale_after=120s", "cohorts.default.max_hold=600s",
    ]

    /// Runs a body with a daemon, which has to end orderly.
    static func with(
        _ settings: [String] = [], _ body: @escaping @Sendable (BoardService) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let (daemon, http) = try await DaemonProcess.servingHTTP("a", nats: nats.url, settings)
            try await body(BoardService(http: http, daemon: daemon, nats: nats, connection: connection))
            #expect(await daemon.terminate() == 0)
        }
    }

    /// The head of a room.
    func head(_ room: String, _ request: JoinRequest = JoinRequest()) async throws -> BoardHead {
        let address = try address(room)
        return try await BoardHead(connection.requestParts(request.encoded(), to: address.subject(.joinHead)).payload)
    }

    func board(_ room: String, cohort: CohortName) async throws -> BoardHead {
        let subject = try address(room).subject(.join(cohort))
        return try await BoardHead(connection.requestParts(JoinRequest().encoded(), to: subject).payload)
    }

    func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("no room \(room)") }
        return RoomAddress(root: "ink", room: id, partitions: 1)
    }

    /// A clock that stands still.
    func setClock(_ room: String, _ media: Int, cohort: CohortName = .main, more: String = "") throws {
        try connection.publish(
            Array(#"{"m":\#(media),"r":0,"d":true\#(more)}"#.utf8), to: address(room).subject(.clock(cohort)))
    }

    /// Writes messages of a teacher and waits until each has an index.
    func write(_ messages: [String], to room: String) async throws {
        let answer = try await http.send(
            "POST", "/api/rooms/\(room)/strokes?author=anna",
            headers: [("Content-Type", "application/x-ndjson")], body: messages.joined(separator: "\n"))
        guard answer.statusCode == 200, !answer.text.contains("error"), !answer.text.contains("held") else {
            throw Unexpected("not written: \(answer.text)")
        }
    }

    func importFile(
        _ file: [UInt8], _ query: String = "author=anna", room: String = "r", headers: [(String, String)] = [],
        over http: HTTPClient? = nil
    ) async throws -> HTTPClient.Response {
        try await (http ?? self.http).send("POST", "/api/rooms/\(room)/import?\(query)", headers: headers, bytes: file)
    }

    func copy(_ page: Int, of room: String = "r", _ body: String) async throws -> HTTPClient.Response {
        try await http.send("POST", "/api/rooms/\(room)/pages/\(page)/copy?author=anna", body: body)
    }

    func picture(_ room: String, page: Int) async throws -> [UInt8] {
        // A busy machine takes longer than the gateway waits.
        try await eventually("a picture of page \(page)") {
            let answer = try await http.get("/api/rooms/\(room)/board.png?cohort=head&page=\(page)")
            return answer.statusCode == 200 ? answer.bytes : nil
        }
    }

    func lectern(_ arguments: String...) async throws -> (exitCode: Int32?, log: String) {
        try await LecternProcess.run(arguments: arguments + ["--nats", nats.url])
    }
}

/// What a joiner sees.
struct BoardHead {
    struct Entry {
        let page: Int
        let author: String
        let message: StrokeMessage
        let points: [StrokePoint]
        /// Who it is by, for those who look at the board.
        let name: AnyJSON?
    }

    let reply: JoinReply
    let entries: [Entry]

    fileprivate init(_ bytes: [UInt8]) throws {
        reply = try JoinReply(decoding: bytes)
        guard case .board(_, _, let visible, _, _) = reply.content else { throw Unexpected("no board") }
        entries = try visible.map { operation in
            let message = try StrokeMessage(decoding: Array(operation.message))
            return Entry(
                page: operation.page, author: operation.author.text, message: message,
                points: message.decodePoints(of: Array(operation.message)),
                name: try AnyJSON.decode(Array(operation.message))["by"])
        }
    }

    func entries(on page: Int) -> [Entry] { entries.filter { $0.page == page } }
}

/// What the answers of imports and copies have.
extension HTTPClient.Response {
    /// The pages that an import has made.
    var pages: [Int] {
        get throws {
            guard statusCode == 200, case .array(let pages)? = try AnyJSON.decode(bytes)["pages"] else {
                throw Unexpected("\(statusCode): \(text)")
            }
            return pages.compactMap { if case .number(let number) = $0 { Int(number) } else { nil } }
        }
    }

    var errorCode: AnyJSON? {
        get throws { try AnyJSON.decode(bytes)["error"]?["code"] }
    }
}

extension Sequence {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
