"""What modules keep between calls: no test sets it."""

import ast

from tests.test_architecture import MODULES, layer_of

CHANGES = frozenset(
    ("add", "append", "clear", "extend", "insert", "pop", "remove", "set", "setdefault", "update")
)


def of_modules(tree: ast.Module) -> dict[str, set[str]]:
    """What each definition at the top of a module changes that is the module's."""
    assigned = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        if isinstance(target, ast.Name)
    }
    return {
        definition.name: {name for node in ast.walk(definition) for name in changed(node)}
        & assigned
        for definition in tree.body
        if isinstance(definition, ast.FunctionDef | ast.ClassDef)
    }


def changed(node: ast.AST) -> list[str]:
    """The names whose values a statement changes."""
    match node:
        case ast.Global(names=names):
            return names
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return [name] if method in CHANGES else []
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return [name]
    return []


def listed(tree: ast.Module) -> list[str]:
    """The public names of a module."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def test_what_changes_a_module_is_found() -> None:
    hook = """
_seen = ContextVar("seen", default=None)
_known = {}
def describing():
    token = _seen.set([])
def know(name):
    _known[name] = []
def local():
    found = set()
    found.add(1)
"""
    changes = {"describing": {"_seen"}, "know": {"_known"}, "local": set()}
    assert of_modules(ast.parse(hook)) == changes


def test_no_state_of_production_is_there_for_tests() -> None:
    """A test hands in what it needs, by the frames that it makes: it sets nothing."""
    trees = {
        module: ast.parse(path.read_text(encoding="utf-8"))
        for module, path in MODULES.items()
        if layer_of(module) != "testing"
    }
    named = {
        getattr(node, "attr", None) or getattr(node, "id", None)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    hooks = [
        f"{module}.{name} changes {', '.join(sorted(state))}"
        for module, tree in trees.items()
        for name, state in of_modules(tree).items()
        if state and name not in named.union(listed(tree))
    ]
    assert hooks == []
