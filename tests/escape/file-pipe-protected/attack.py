from attack import *

attempt("protected", lambda: os.close(os.open("control", os.O_RDWR)))
attempt("readable", lambda: os.close(os.open(os.environ["HOME"] + "/control", os.O_RDWR)))
