internal import Hummingbird

/// An error for a person: a page with what is wrong and what to do next, where a browser has gone to an address.
struct ErrorPage {
    let failure: GatewayError

    /// Whether a request is that of a browser for a page, not one of a script: those do not ask for HTML.
    static func isAsked(by request: Request) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        return request.headers[.accept]?.contains("text/html") == true
    }

    /// - Parameter root: a relative address that leads to the root of the gateway.
    func html(root: String) -> String {
        let (title, next) = words
        let fields = [
            "title": title, "message": failure.message, "next": next,
            "status": "\(failure.status.code) \(failure.code)",
        ]
        var page = Self.template.replacing("{root}", with: root.isEmpty ? "./" : root)
        for (name, text) in fields { page = page.replacing("{\(name)}", with: Self.escaped(text)) }
        return page
    }

    private static let template: String = {
        let bytes = SiteRoutes.files["pages/error.html"]?.bytes ?? []
        return String(decoding: bytes, as: UTF8.self)
            .replacing("assets/current/", with: "assets/\(SiteRoutes.release)/")
    }()

    private typealias Words = (title: String, next: String)

    private static let words: [String: Words] = [
        "unknown-room": (
            "Nobody has written to this room yet",
            "A room begins with its teacher's first stroke. Check the name in the address, or wait for the class to begin."
        ),
        "unauthorized": (
            "This opens with a link", "Open the link that you were given, or ask for one where you got this address."
        ),
        "revoked": ("This link no longer counts", "Ask for a new one where you got it."),
        "forbidden": (
            "Your link is for something else", "Open the link that you were given for this room, or ask for one."
        ),
        "not-found": ("There is nothing at this address", "Check the address; the start page leads to the rooms."),
    ]
    private static let later: Words = (
        "That does not work at the moment",
        "Load the page again in a minute. If that does not help, tell who runs the service."
    )
    private static let other: Words = ("That is not possible", "Check the address, or begin at the start page.")

    /// All texts but those of the template, which the page's script translates.
    static var texts: [String] { (Array(words.values) + [later, other]).flatMap { [$0.title, $0.next] } }

    private var words: Words {
        if let words = Self.words[failure.code] { return words }
        return failure.status.kind == .serverError || failure.retryAfter != nil ? Self.later : Self.other
    }

    /// Text that is no markup.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
