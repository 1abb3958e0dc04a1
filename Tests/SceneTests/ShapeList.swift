import PathGeometry

@testable import Scene

/// An entry of a page that is made of plain shapes.
enum Shape {
    case drawing(Path)
    case eraser(Path)
    case lasso(Lasso)

    /// Of a drawing or an eraser.
    var path: Path {
        switch self {
        case .drawing(let path), .eraser(let path): path
        case .lasso: Path()
        }
    }

    func entry(id: UInt64) -> SceneEntry {
        switch self {
        case .drawing(let path): SceneEntry(id: id, .drawing, bounds: path.controlBounds)
        case .eraser(let path): SceneEntry(id: id, .eraser, bounds: path.controlBounds)
        case .lasso(let lasso): SceneEntry(id: id, lasso)
        }
    }
}

/// The display list of shapes, one area a drawing, and what was asked for to make it.
struct ShapeList {
    let shapes: [Shape]
    private(set) var list: DisplayList
    /// How often the areas of each shape were asked for.
    private(set) var outlined: [Int]

    /// - Parameter ids: one for each shape; by default its place.
    init(_ shapes: [Shape], ids: [UInt64]? = nil, limits: DisplayList.Limits = DisplayList.Limits()) {
        self.shapes = shapes
        list = DisplayList(limits: limits)
        outlined = shapes.map { _ in 0 }
        var outlined = outlined
        for (place, shape) in shapes.enumerated() {
            list.add(shape.entry(id: ids?[place] ?? UInt64(place))) { place in
                outlined[place] += 1
                return [shapes[place].path]
            } check: {
            }
        }
        self.outlined = outlined
    }

    var items: [DisplayItem] { list.items }
    var skippedEntries: [Int] { list.skippedEntries }

    /// What an item shows.
    func area(of item: DisplayItem) -> Path { item.area ?? shapes[item.entry].path }
}
