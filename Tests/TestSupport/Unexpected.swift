/// What a test cannot go on after.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
