import StrokeWire
import TestSupport
import Testing

/// The bodies of `StrokeWire/Operators`, as they stand in the specification.
@Suite struct `An operator's command` {
    @Test func `is written and read, and so are its replies and its record`() throws {
        let room = try #require(RoomID("physics"))
        let request = CommandRequest(.close(room), for: "anna, 10.0.0.7", id: "x-1")
        let body = #"{"command":"close","room":"physics","for":"anna, 10.0.0.7","id":"x-1"}"#
        #expect(request.encoded().text == body)
        #expect(try CommandRequest(decoding: Array(body.utf8)) == request)
        for (command, body) in [
            (OperatorCommand.erase(room), #"{"command":"erase","room":"physics","id":"x-1"}"#),
            (
                .revoke(try #require(.token("t", expires: 1_790_000_000))),
                #"{"command":"revoke","jti":"t","exp":1790000000,"id":"x-1"}"#
            ),
            (
                .revoke(try #require(.subject("anna", issuedThrough: 1_760_000_000))),
                #"{"command":"revoke","sub":"anna","iat":1760000000,"id":"x-1"}"#
            ),
        ] {
            let request = CommandRequest(command, id: "x-1")
            #expect(request.encoded().text == body)
            #expect(try CommandRequest(decoding: Array(body.utf8)) == request)
        }
        let erased = ErasedRoom(
            room: room, assets: [try #require(AssetID(hexadecimal: String(repeating: "ab", count: 32)))])
        #expect(try ErasedRoom(decoding: erased.encoded()) == erased)
        let many = (0..<2500).compactMap { AssetID(hexadecimal: String(repeating: "0", count: 60) + String($0 + 1000)) }
        #expect(ErasedRoom.notices(room, many).map(\.assets.count) == [1000, 1000, 500])
        #expect(ErasedRoom.notices(room, many).flatMap(\.assets) == many)
        #expect(ErasedRoom.notices(room, []) == [ErasedRoom(room: room, assets: [])])
        for (reply, body) in [
            (CommandReply(), #"{"done":true}"#),
            (CommandReply(sequence: 7, detail: "all"), #"{"done":true,"sequence":7,"detail":"all"}"#),
        ] {
            #expect(reply.encoded().text == body)
            #expect(try CommandReply(decoding: Array(body.utf8)) == reply)
        }
        let bob = try #require(AuthorID("bob"))
        for (command, name) in [(OperatorCommand.mute(bob, room), "mute"), (.unmute(bob, room), "unmute")] {
            let request = CommandRequest(command, id: "x-1")
            #expect(request.encoded().text == #"{"command":"\#(name)","room":"physics","author":"bob","id":"x-1"}"#)
            #expect(try CommandRequest(decoding: request.encoded()) == request)
            #expect(AuditEntry(request, from: try #require(OperatorName("otto"))).target == "bob")
        }
        let sign = CommandProgress("records", made: 3, of: 9)
        #expect(sign.encoded().text == #"{"detail":"records","made":3,"of":9}"#)
        #expect(try CommandProgress(decoding: sign.encoded()) == sign)

        var entry = AuditEntry(request, from: try #require(OperatorName("otto")))
        #expect(
            entry.encoded().text
                == #"{"v":1,"id":"x-1","who":"otto","for":"anna, 10.0.0.7","command":"close","room":"physics"}"#)
        #expect(try AuditEntry(decoding: entry.encoded()) == entry)
        (entry.time, entry.outcome, entry.detail) = (1_700_000_000_000, .failed, "no space")
        #expect(try AuditEntry(decoding: entry.encoded()) == entry)
        let page = AuditPage([entry, entry], next: 9)
        #expect(try AuditPage(decoding: page.encoded()) == page)
        let asked = AuditRequest(room: room, since: 17, from: 9)
        #expect(asked.encoded().text == #"{"room":"physics","since":17,"from":9}"#)
        #expect(try AuditRequest(decoding: asked.encoded()) == asked)
        #expect(try AuditRequest(decoding: []) == AuditRequest())
    }

    @Test(arguments: [
        ("", Fault(.missingField, "command")), (#"{"command":"close","id":"x"}"#, Fault(.missingField, "room")),
        (#"{"command":"open","room":"a","id":"x"}"#, Fault(.outOfRange, "command")),
        (#"{"command":"close","room":"A","id":"x"}"#, Fault(.outOfRange, "room")),
        (#"{"command":"mute","room":"a","id":"x"}"#, Fault(.missingField, "author")),
        (#"{"command":"unmute","room":"a","author":"B","id":"x"}"#, Fault(.outOfRange, "author")),
        (#"{"command":"erase","id":"x"}"#, Fault(.missingField, "room")),
        (#"{"command":"revoke","id":"x"}"#, Fault(.missingField, "sub")),
        (#"{"command":"revoke","sub":"a","id":"x"}"#, Fault(.missingField, "iat")),
        (#"{"command":"revoke","jti":"a\nb","id":"x"}"#, Fault(.outOfRange, "jti")),
        (#"{"command":"close","room":"a"}"#, Fault(.missingField, "id")),
        (#"{"command":"close","room":"a","id":"x y"}"#, Fault(.outOfRange, "id")),
        (#"{"command":"close","room":"a","id":"x","for":"a\nb"}"#, Fault(.outOfRange, "for")),
        (#"{"command":"close","room":"a","id":"x","for":"a\u202eb"}"#, Fault(.outOfRange, "for")),
        (#"{"command":"close","room":"a","id":"x","for":7}"#, Fault(.wrongType, "for")),
    ])
    func `is refused for its fault`(body: String, expected: Fault) {
        #expect(Fault.found { () throws(Rejection) in _ = try CommandRequest(decoding: Array(body.utf8)) } == expected)
    }
}
