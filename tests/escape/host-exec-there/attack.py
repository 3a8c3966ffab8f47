from attack import *
import shutil

NAMES = """.envrc .mcp.json .pre-commit-config.yaml .devcontainer.json opencode.json opencode.jsonc .gitmodules
.vscode/tasks.json .vscode/settings.json .idea/workspace.xml .zed/tasks.json .devcontainer/devcontainer.json .husky/pre-commit
.github/hooks/pre-commit .claude/settings.json .claude/agents/a.md .codex/config.toml .gemini/settings.json .cursor/mcp.json
.windsurf/mcp.json .opencode/plugin.js""".split()
# What these are called is matched at the start, so only if they are there.
MATCHED = "x.code-workspace lefthook.yml .lefthook.toml mise.toml .mise.local.toml".split()
NAMES += [name for name in MATCHED if os.path.lexists(name)]


def make(path):
    with open(path, "w") as file:
        file.write("EVIL")


def parents(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)


def moved_over(path):
    make("new")
    parents(path)
    os.rename("new", path)


def linked(path):
    make("target")
    os.path.lexists("link") or os.symlink(os.path.abspath("target"), "link")
    parents(path)
    os.rename("link", path)


def made_anew(path):
    if os.path.isdir(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)
    parents(path)
    make(path)


def directory_replaced(path):
    """All of its directory, or of what is named, with one of our own."""
    top = path.split("/")[0]
    os.makedirs("own", exist_ok=True)
    if "/" in path:
        os.makedirs(os.path.dirname("own/" + path), exist_ok=True)
    make("own/" + path)
    if os.path.lexists(top):
        os.rename(top, "old")
        shutil.rmtree("old") if os.path.isdir("old") else os.unlink("old")
    os.rename("own/" + top, top)


def written(path):
    parents(path)
    make(path)


def possible(way, path):
    try:
        way(path)
        return True
    except OSError:
        return False


for way in written, moved_over, linked, made_anew, directory_replaced:
    count = sum(possible(way, path) for path in NAMES)
    print(way.__name__.replace("_", "-"), "done" if count == len(NAMES) else "partly" if count else "no")
