/// Names as Prometheus allows them, made from the labels that swift-metrics takes.
enum MetricName {
    /// A counter's name ends in `_total`.
    static func counter(_ label: String) -> String {
        withSuffix("_total", plain(label))
    }

    /// A timer's name says its unit.
    static func seconds(_ label: String) -> String {
        withSuffix("_seconds", plain(label))
    }

    /// Letters, digits, `_` and `:`, not a digit first; everything else becomes `_`.
    static func plain(_ label: String) -> String {
        allowed(label, colon: true)
    }

    /// As above without `:`.
    static func label(_ name: String) -> String {
        allowed(name, colon: false)
    }

    private static func withSuffix(_ suffix: String, _ name: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    private static func allowed(_ text: String, colon: Bool) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_":
                name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(scalar)
            case ":" where colon:
                name.unicodeScalars.append(scalar)
            default:
                name.unicodeScalars.append("_")
            }
        }
        return name.isEmpty ? "_" : name
    }
}
