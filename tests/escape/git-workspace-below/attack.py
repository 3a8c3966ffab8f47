from attack import *

attempt("configuration", lambda: open("../../.git/config", "a").write("[core]\n\tfsmonitor = touch ran; false\n"))
attempt("hook", lambda: open("../../.git/hooks/pre-commit", "w").close())
attempt("repository-moved", lambda: os.rename("../../.git", "../../g") or os.rename("../../g", "../../.git"))
attempt("file-above", lambda: open("../../top", "a").write("EVIL"))
attempt("envrc-above", lambda: open("../.envrc", "w").write("EVIL"))
attempt("gitmodules-above", lambda: open("../../.gitmodules", "w").write("EVIL"))
attempt("repository-between", lambda: os.makedirs("../.git"))
