import Assets
import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternServer

/// That assets in use are written again, by the service itself.
@Suite(.timeLimit(.minutes(4))) struct AssetUseTests {
    private static func slide(_ number: Int, _ asset: AssetID) -> String {
        #"{"n":\#(number),"a":7,"i":"\#(asset)","p":0,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
    }

    @Test(arguments: [false, true])
    func `An asset is written again while a board shows it, and when an operation names it`(isSlide: Bool) async throws
    {
        try await DurableClass.with {
            $0.journal?.maxAge = .seconds(16)
            $0.checkpoints = CheckpointSchedule(interval: .seconds(1), operations: 1)
        } _: { lesson in
            let store = lesson.assets
            let address = try lesson.address("slides")
            let jetStream = JetStream(lesson.client)
            @Sendable func sequence(_ asset: AssetID) async throws -> UInt64 {
                let subject = "ink.assets.\(asset).manifest"
                return try #require(try await jetStream.lastMessage("INK_ASSETS", subject: subject)).sequence
            }
            try await lesson.serve {
                try await eventually("there is a stream of assets") { () -> Void? in
                    (try? await store.provision()) as Void?
                }
                let files = try ["shown", "named"].map(SampleFile.init)
                for file in files { try await store.save(file.bytes, file.manifest) }
                let (shown, named) = (files[0].id, files[1].id)
                let before = (shown: try await sequence(shown), named: try await sequence(named))
                try await lesson.client.publishDurably(image(1, shown), to: address)
                let numbers = Recorder<Int>()
                try await eventually("the asset on the board is written again") { () -> Void? in
                    numbers.append(1)
                    let stroke = Hand.stroke(1 + numbers.values.count, at: 0)
                    try await lesson.client.publishDurably(stroke, to: address)
                    return try await sequence(shown) > before.shown ? () : nil
                }
                #expect(try await sequence(named) == before.named)
                // By now its manifest is as old. The next checkpoint's board does not have it any more.
                let next = 2 + numbers.values.count
                try await lesson.client.publishDurably(
                    isSlide ? Self.slide(next, named) : image(next, named), to: address)
                try await lesson.client.publishDurably(
                    isSlide ? #"{"n":\#(next + 1),"a":7}"# : #"{"n":\#(next + 1),"a":4}"#, to: address)
                try await eventually("the named asset is written again", is: await sequence(named) > before.named)
            }
        }
    }
}
