import Testing

@testable import NATSClient

@Suite struct CatchUpTests {
    @Test func `An empty stream is caught up with at once, and only once`() {
        var catchUp = CatchUp()
        let steps = [catchUp.began(pending: 0), catchUp.message(pending: 0), catchUp.began(pending: 0), catchUp.idle()]
        #expect(steps == [true, false, false, false])
    }

    @Test func `What was there at the beginning is enough, however much comes meanwhile`() {
        var catchUp = CatchUp()
        let steps = [
            catchUp.began(pending: 3), catchUp.message(pending: 9), catchUp.message(pending: 20),
            catchUp.message(pending: 30), catchUp.message(pending: 0),
        ]
        #expect(steps == [false, false, false, true, false])
    }

    @Test func `Begun anew, what is there then counts`() {
        var catchUp = CatchUp()
        let steps = [
            catchUp.began(pending: 3), catchUp.message(pending: 2), catchUp.began(pending: 2),
            catchUp.message(pending: 1), catchUp.message(pending: 0),
        ]
        #expect(steps == [false, false, false, false, true])
    }

    @Test func `What goes by its age meanwhile is not waited for`() {
        var catchUp = CatchUp()
        let steps = [
            catchUp.began(pending: 3), catchUp.idle(), catchUp.message(pending: 2), catchUp.idle(), catchUp.idle(),
        ]
        #expect(steps == [false, false, false, false, true])
    }
}
