import Testing

@testable import NATSClient

@Suite struct DenialTests {
    @Test func `What the server says is read, with the subject`() {
        let publish = Denial(reported: #"Permissions Violation for Publish to "ink.rooms""#)
        #expect(publish == Denial(.publish, "ink.rooms"))
        #expect(publish?.description == "this NATS user may not publish to ink.rooms")
        let subscribe = Denial(reported: #"Permissions Violation for Subscription to "_INBOX.a.*""#)
        #expect(subscribe == Denial(.subscribe, "_INBOX.a.*"))
        let queue = Denial(reported: #"Permissions Violation for Subscription to "a" using queue "q""#)
        #expect(queue == Denial(.subscribe, "a"))
    }

    @Test(arguments: ["", "Authorization Violation", #"Unknown "thing""#, #"Permissions Violation for Publish to "a"#])
    func `Anything else is no denial`(_ text: String) {
        #expect(Denial(reported: text) == nil)
    }
}
