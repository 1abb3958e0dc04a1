import StrokeWire

/// The templates that the messages of a room share, in the order of their use.
///
/// Bounded in bytes: refuses templates larger than ``largest``, and drops the least recently used where it is full.
/// Strokes keep the templates that they have.
struct TemplateTable: Sendable {
    /// A template that many messages refer to.
    final class Entry: Sendable {
        let template: MessageTemplate
        /// The template in the binary form.
        let layout: MessageLayout

        init(_ template: MessageTemplate) {
            self.template = template
            layout = MessageLayout(template)
        }
    }

    /// The greatest ``byteCount``.
    static let bound = 16 << 10
    /// The greatest number of bytes of one template.
    static let largest = 2 << 10

    /// Bytes that a stroke may add to the templates, or keep of them, however small it is: as many as the board counts for
    /// it at least, about.
    static let least = 320

    /// The most recently used one first.
    private var entries: [Entry] = []
    /// Bytes of the templates, about.
    private(set) var byteCount = 0

    init() {}

    /// - Parameters:
    ///   - list: the last one used at the end.
    ///   - recent: the last one used.
    init(_ list: [Entry], recent: Entry?) {
        for entry in list + [recent].compactMap({ $0 }) { _ = use(entry.template) { entry } }
    }

    var count: Int { entries.count }

    /// The last one used, most likely the next message's.
    var recent: Entry? { entries.first }

    /// The shared entry of a template.
    /// - Returns: nil for a template that is too large.
    mutating func entry(for template: MessageTemplate) -> Entry? { use(template) { Entry(template) } }

    /// Moves a template to the front.
    private mutating func use(_ template: MessageTemplate, _ make: () -> Entry) -> Entry? {
        if let position = entries.firstIndex(where: { $0.template == template }) {
            let known = entries.remove(at: position)
            entries.insert(known, at: 0)
            return known
        }
        guard template.byteCount <= Self.largest else { return nil }
        while byteCount + template.byteCount > Self.bound, let oldest = entries.popLast() {
            byteCount -= oldest.template.byteCount
        }
        let entry = make()
        entries.insert(entry, at: 0)
        byteCount += template.byteCount
        return entry
    }
}
