extension Notation where Value == ListenAddress? {
    /// Where to listen; `off` for nowhere.
    static var listenAddress: Self {
        Notation(name: "address", range: "host:port | off") { text throws(Misspelling) in
            if text == "off" { return nil }
            guard let address = ListenAddress(text) else {
                throw Misspelling(text, "is no address; write 127.0.0.1:8080, [::1]:8080 or off")
            }
            return address
        } format: { address in
            address?.description ?? "off"
        }
    }
}

extension Notation where Value == NATSAddress {
    /// NATS servers. The complaint does not repeat the text: there may be a password in it.
    static var natsAddress: Self {
        Notation(name: "address", range: "nats://host:port | tls://host:port, several with commas | embedded") {
            text throws(Misspelling) in
            guard let address = NATSAddress(text) else {
                throw Misspelling("is no NATS address; write nats://host:port, tls://host:port or embedded")
            }
            return address
        } format: { address in
            address.description
        }
    }
}
