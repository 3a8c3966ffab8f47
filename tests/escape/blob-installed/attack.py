from attack import *

share = os.environ["HOME"] + "/.local/share"
attempt("replaced", lambda: open(share + "/sbx/agent.sbx", "w").write("EVIL"))
attempt("made", lambda: open(share + "/sbx/other.sbx", "w").write("EVIL"))
attempt("moved", lambda: os.rename(share + "/sbx", share + "/old"))
attempt("above", lambda: os.rename(share, share + "-old"))
