import DequeModule

/// Items of several groups, taken in turns: a group with many keeps no other one waiting. In order within a group.
struct FairQueue<Group: Hashable, Item> {
    /// Never empty.
    private var items: [Group: Deque<Item>] = [:]
    /// The groups in the order of their turns.
    private var turns: Deque<Group> = []
    private(set) var count = 0

    func count(of group: Group) -> Int { items[group]?.count ?? 0 }

    mutating func append(_ item: Item, of group: Group) {
        if items[group] == nil { turns.append(group) }
        items[group, default: []].append(item)
        count += 1
    }

    mutating func popFirst() -> Item? {
        guard let group = turns.popFirst(), let item = items[group]?.popFirst() else { return nil }
        if items[group]?.isEmpty == false { turns.append(group) } else { items[group] = nil }
        count -= 1
        return item
    }
}
