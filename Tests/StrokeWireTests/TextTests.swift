import StrokeWire
import TestSupport
import Testing

private func text(_ value: String, _ more: String = #","l":32"#) -> String {
    #"{"n":1,"e":8\#(more),"x":\#(value),"d":[{"x":10,"y":20},{"x":110,"y":52}]}"#
}

@Suite struct `A text` {
    @Test(arguments: [
        (#""a""#, "a"), (#""zwei\nZeilen\n""#, "zwei\nZeilen\n"), (#""<script>&\"\\""#, "<script>&\"\\"),
        (#""\u05e9\u05dc\u05d5\u05dd""#, "שלום"), (#""\ud83d\ude00 数""#, "😀 数"),
        (#""e\u0301\u200e\u00a0""#, "e\u{301}\u{200e}\u{a0}"), (#""\ud800""#, "\u{fffd}"),
    ])
    func `says what its message says`(value: String, expected: String) throws {
        let message = try decode(text(value)).get()
        #expect(message.element == .text && message.width == 32)
        // By scalars: strings are equal where they look equal.
        #expect(message.text.map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
    }

    @Test(arguments: [
        (#""""#, Fault(.outOfRange, "x")), (#""a\tb""#, Fault(.outOfRange, "x")),
        (#""a\r\nb""#, Fault(.outOfRange, "x")),
        (#""\u0000""#, Fault(.outOfRange, "x")), (#""\u007f""#, Fault(.outOfRange, "x")),
        (#""\u0085""#, Fault(.outOfRange, "x")),
        (#""a\u202ab""#, Fault(.outOfRange, "x")), (#""\u202e""#, Fault(.outOfRange, "x")),
        (#""\u2066""#, Fault(.outOfRange, "x")),
        (#""\u2069x""#, Fault(.outOfRange, "x")), ("7", Fault(.wrongType, "x")), ("null", Fault(.wrongType, "x")),
        (#"["a"]"#, Fault(.wrongType, "x")),
    ])
    func `of other characters is refused`(value: String, fault: Fault) {
        #expect(decode(text(value)).fault == fault)
    }

    @Test func `has 2,000 bytes at most, however they are spelt`() throws {
        let longest = String(repeating: "ü", count: 1000)
        #expect(try decode(text("\"\(longest)\"")).get().text == longest)
        let escaped = String(repeating: "\\u0061", count: 2000)
        #expect(try decode(text("\"\(escaped)\"")).get().text?.utf8.count == 2000)
        #expect(decode(text("\"\(longest)a\"")).fault == Fault(.outOfRange, "x"))
        #expect(decode(text("\"\(escaped)a\"")).fault == Fault(.outOfRange, "x"))
        #expect(decode(text("\"\(String(repeating: "a", count: 100_000))\"")).fault == Fault(.outOfRange, "x"))
    }

    @Test(arguments: [
        ("", Fault(.outOfRange, "l")), (#","l":3.99"#, Fault(.outOfRange, "l")),
        (#","l":513"#, Fault(.outOfRange, "l")),
        (#","l":"32""#, Fault(.wrongType, "l")), (#","l":4"#, nil), (#","l":512"#, nil),
    ])
    func `needs a height of its lines`(more: String, fault: Fault?) {
        #expect(decode(text(#""a""#, more)).fault == fault)
    }

    @Test func `is nothing without what it says, and its faults are told last`() {
        let box = #""d":[{"x":1,"y":2},{"x":3,"y":4}]"#
        #expect(decode(#"{"n":1,"e":8,"l":32,\#(box)}"#).fault == Fault(.missingField, "x"))
        #expect(decode(#"{"n":1,"e":8,"l":1,"g":1000,\#(box)}"#).fault == Fault(.outOfRange, "g"))
        #expect(decode(#"{"n":1,"e":8,"l":1,"x":1,\#(box)}"#).fault == Fault(.outOfRange, "l"))
        #expect(decode(#"{"n":1,"e":8,"l":32,"x":"a"}"#).fault == Fault(.missingField, "d"))
    }

    @Test func `is an unknown element where the service does not offer it, and its key is none of others`() throws {
        let limits = WireLimits(features: BoardFeatures.all.subtracting(.text))
        #expect(decode(text(#""a""#), limits: limits).fault == Fault(.unknownElement, "e"))
        #expect(try decode(#"{"n":1,"x":7,"d":[{"x":1,"y":2}]}"#).get().content == nil)
        #expect(BoardFeatures.all.contains(.text) && BoardFeatures(names: ["text"]) == .text)
    }

    @Test(arguments: [
        ("abc", false), ("שלום", true), ("مرحبا", true), ("1. שלום abc", true), ("1. abc שלום", false), ("", false),
        ("123 …", false),
        ("😀 שלום", true), ("数学 שלום", false), ("\u{200f}abc", true), ("\u{200e}שלום", false), ("٣ x", false),
        ("«שלום»", true),
        ("\n\nשלום", true), ("Привет", false), ("ø שלום", false), ("🇮🇱 שלום", false), ("⠓ שלום", false),
        ("½ ℃ № שלום", true),
        ("฿5 שלום", true), ("﴿ x", false), ("\u{05bf}\u{0730}x", false), ("・ ￥ שלום", true), ("𝟙 שלום", true),
    ])
    func `reads in the direction of its first letter`(text: String, isRightToLeft: Bool) {
        #expect(BoardText.isRightToLeft(text) == isRightToLeft, "\(text)")
    }

    @Test func `has its lines between line feeds, and no others`() {
        #expect(BoardText.lines(of: "a\n\nb\u{2028}c\u{2029}d\u{ffff}\n") == ["a", "", "b c d ", ""])
    }
}
