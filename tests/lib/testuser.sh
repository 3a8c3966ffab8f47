# Sourced by tests that need an ordinary user.  Users of sbx are not root, so
# neither are its tests; but they overwrite keys, logins and dotfiles of a home
# (sbx-exec asks passwd where that is, not $HOME), so it is never yours: they
# make a user of their own.  That takes root, or sudo without a password.
#
#	testuser_setup SCRIPT ARGUMENT...
#				sets TESTUSER, TESTUID, TESTHOME; makes the user.
#				An ordinary user's SCRIPT (from the top folder)
#				starts anew by sudo; false: there is none.  Another
#				pair of TESTUSER and TESTUID can be given before
#	as_user COMMAND...	runs it as that user with a bare environment
#	stage_tree DIR		copies the programs and the library to DIR,
#				readable by everyone (the checkout may not be)

TESTUSER=sbxtest
TESTUID=1742
TESTUSER_MISSING='needs a user of its own: run it as root, or with sudo that asks no password'

testuser_setup() {
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || return 1
		exec sudo -n env ONLY="${ONLY-}" VERBOSE="${VERBOSE-}" TERM="${TERM:-dumb}" "$@"
	fi
	# One run at a time for each user: what shares one waits.
	[ -n "${TESTUSER_LOCKED-}" ] ||
		TESTUSER_LOCKED=1 exec flock --close "/run/sbx-${TESTUSER#sbx}.lock" "$@"
	id "$TESTUSER" >/dev/null 2>&1 ||
		useradd --create-home --uid "$TESTUID" --shell /bin/bash "$TESTUSER" || return 1
	[ "$(id -u "$TESTUSER")" = "$TESTUID" ] || {
		echo "user $TESTUSER is not the tests' own: its uid is not $TESTUID" >&2
		return 1
	}
	# What an interrupted run left would be found by this one.
	pkill -KILL -u "$TESTUSER" || true
	TESTHOME=$(getent passwd "$TESTUSER" | cut -d: -f6)
}

as_user() {
	setpriv --reuid "$TESTUID" --regid "$TESTUID" --init-groups \
		env -i HOME="$TESTHOME" USER="$TESTUSER" LOGNAME="$TESTUSER" \
		PATH=/usr/local/bin:/usr/bin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8 "$@"
}

stage_tree() {
	mkdir -p "$1/build"
	cp build/sbxc build/sbx-exec "$1/build/"
	[ ! -x build/sbx-proxy ] || cp build/sbx-proxy "$1/build/"
	[ ! -x build/sbx-chaperon ] || cp -r build/sbx-chaperon build/slurm "$1/build/"
	cp -r stdlib policies "$1/"
	chmod -R a+rX,go-w "$1"
}
