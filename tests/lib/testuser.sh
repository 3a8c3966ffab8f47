# Sourced by tests that need an ordinary user.  Users of sbx are not root, so
# neither are its tests: run by root, they make a user of their own; run by an
# ordinary user, they use that one.
#
#	testuser_setup		sets TESTUSER, TESTHOME; makes the user
#	as_user COMMAND...	runs it as that user with a bare environment
#	stage_tree DIR		copies the programs and the library to DIR,
#				readable by everyone (the checkout may not be)

TESTUSER=sbxtest
TESTUID=1742

testuser_setup() {
	if [ "$(id -u)" = 0 ]; then
		id "$TESTUSER" >/dev/null 2>&1 ||
			useradd --create-home --uid "$TESTUID" --shell /bin/bash "$TESTUSER"
	else
		TESTUSER=$(id -un)
		TESTUID=$(id -u)
	fi
	TESTHOME=$(getent passwd "$TESTUSER" | cut -d: -f6)
}

as_user() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups \
			env -i HOME="$TESTHOME" USER="$TESTUSER" LOGNAME="$TESTUSER" \
			PATH=/usr/local/bin:/usr/bin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8 "$@"
	else
		env -i HOME="$TESTHOME" USER="$TESTUSER" LOGNAME="$TESTUSER" \
			PATH=/usr/local/bin:/usr/bin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8 "$@"
	fi
}

stage_tree() {
	mkdir -p "$1/build"
	cp build/sbxc build/sbx-exec "$1/build/"
	cp -r stdlib policies "$1/"
	chmod -R a+rX,go-w "$1"
}
