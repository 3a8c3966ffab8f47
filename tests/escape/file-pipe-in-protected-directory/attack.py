from attack import *

attempt("written", lambda: os.close(os.open("run/deep/control", os.O_RDWR)))
