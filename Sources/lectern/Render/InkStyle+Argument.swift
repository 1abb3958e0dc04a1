public import ArgumentParser
public import Ink

extension InkStyle: ExpressibleByArgument {}
