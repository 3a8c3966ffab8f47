from attack import *


def make(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("EVIL")


attempt("envrc", lambda: make("sub/.envrc"))
attempt("tasks", lambda: make("sub/.vscode/tasks.json"))
attempt("servers", lambda: make("sub/.mcp.json"))
