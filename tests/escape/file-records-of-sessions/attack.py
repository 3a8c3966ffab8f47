from attack import *

attempt("made", lambda: open(os.environ["HOME"] + "/.local/state/sbx/sessions/session-1-1", "w").close())
