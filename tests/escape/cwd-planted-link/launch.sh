# The user goes into a directory of the project, which a session has made a link.
cd docs
PWD=$OLDPWD/docs exec "$@"
