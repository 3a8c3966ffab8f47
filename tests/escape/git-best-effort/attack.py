from attack import *

attempt("configuration", lambda: open(".git/config", "a").write("[core]\n\tfsmonitor = touch ran; false\n"))
attempt("hook", lambda: open(".git/hooks/pre-commit", "w").close())
attempt("envrc", lambda: open(".envrc", "w").write("EVIL"))
attempt("absent", lambda: open(".mcp.json", "w").write("EVIL"))
