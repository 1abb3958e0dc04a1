import NATSClient
import StrokeWire
import TestSupport

/// Publishes messages of one author as text.
struct Hand: Sendable {
    let connection: NATSConnection
    let address: RoomAddress
    let author: AuthorID

    init(_ connection: NATSConnection, _ address: RoomAddress, _ author: String = "anna") throws {
        guard let id = AuthorID(author) else { throw Unexpected("not an author: \(author)") }
        self.connection = connection
        self.address = address
        self.author = id
    }

    func publish(_ text: String) throws {
        try connection.publish(Array(text.utf8), to: address.subject(.input(author)))
    }

    /// A stroke of two points.
    static func stroke(_ number: Int, at time: Int, _ more: String = "") -> String {
        #"{"n":\#(number),"c":1,"l":4,"t":\#(time),"w":400,"h":300,"d":[{"x":\#(number % 400),"y":10},{"x":200,"y":150}]\#(more)}"#
    }

    static func command(_ action: Int, _ number: Int, at time: Int) -> String {
        #"{"n":\#(number),"a":\#(action),"t":\#(time)}"#
    }
}

extension NATSConnection {
    /// A clock that stands still at a media time, so that tests decide when it moves.
    func setClock(_ address: RoomAddress, _ media: Int, cohort: CohortName = .main, _ more: String = "") throws {
        try publish(Array(#"{"m":\#(media),"r":0\#(more)}"#.utf8), to: address.subject(.clock(cohort)))
    }
}
