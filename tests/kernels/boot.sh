# Sourced by tests/kernels/run: other kernels, from Debian's packages, booted
# under qemu.  Nothing is installed: what is fetched lies in $cache.
#
#	boot_find_accel		sets $accel: kvm where it works, else tcg
#	boot_get_kernel SUITE SERIES	sets $image; SUITE - is what apt is set up for
#	boot_make_root DIR	a root that the kernel can start: busybox, bubblewrap;
#				/payload and /payload/stages are the caller's
#	boot_pack DIR FILE	that as an initramfs
#	boot_run IMAGE INITRAMFS OUTPUT MORE-COMMAND-LINE
# The functions print why and fail where something cannot be had.

cache=${KERNELS_CACHE:-${TMPDIR:-/tmp}/sbx-kernels.$UID}
flavour=cloud-amd64

boot_prepare() {
	local tool
	[ "$(uname -m)" = x86_64 ] || { echo 'needs an x86_64 machine'; return 1; }
	for tool in qemu-system-x86_64 apt-get apt-cache dpkg-deb flock timeout; do
		command -v $tool >/dev/null || { echo "$tool is not installed"; return 1; }
	done
	[ -d "$cache" ] || (umask 077 && mkdir -p "$cache")
	# Somebody else's could hold another kernel, and another busybox.
	[ -O "$cache" ] || { echo "$cache belongs to somebody else"; return 1; }
	mkdir -p "$cache"/none/partial
}

# That /dev/kvm can be opened does not mean that it works.
boot_find_accel() {
	accel=${KERNELS_ACCEL:-}
	[ -z "$accel" ] || return 0
	accel=tcg
	# A shell of its own, for what bash says of a program that aborts.
	if [ -w /dev/kvm ] && (echo quit | timeout 5 qemu-system-x86_64 -nodefaults -no-user-config -machine pc \
		-accel kvm -cpu max -m 64 -display none -S -monitor stdio) >/dev/null 2>&1; then
		accel=kvm
	fi
}

# ---- packages ---------------------------------------------------------------------

# The options that point apt at one suite of the mirror that is set up here.
apt_options() { # SUITE
	local suite=$cache/suite-$1
	apt=(-q -o Dir::Cache::pkgcache="$cache/$1.pkgcache" -o Dir::Cache::srcpkgcache=)
	[ "$1" = - ] || apt+=(-o Dir::Etc::sourcelist="$suite/sources.list" -o Dir::Etc::sourceparts="$suite/none"
		-o Dir::State::lists="$suite/lists" -o Dir::Cache::archives="$cache/none")
}

# Reads the index of one more suite, once a day.
add_suite() { # SUITE
	local suite=$cache/suite-$1 uri
	if [ "$1" = - ] || [ -n "$(find "$suite/ok" -mtime -1 2>/dev/null)" ]; then return 0; fi
	mkdir -p "$suite"/{none,lists/partial}
	# shellcheck disable=SC2016 # apt fills these in
	uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		awk '$2 !~ /-security$/ { print $1; exit }')
	[ -n "$uri" ] || { echo "apt has no Debian source to take $1 from"; return 1; }
	echo "deb $uri $1 main" >"$suite/sources.list"
	apt_options "$1"
	apt-get "${apt[@]}" -o APT::Update::Error-Mode=any update >"$cache/log" 2>&1 ||
		{ echo "the mirror that apt is set up for does not serve $1"; return 1; }
	touch "$suite/ok"
}

# Unpacks one package, without what it depends on, into $cache; sets $unpacked.
fetch() { # SUITE PACKAGE
	local version part
	apt_options "$1"
	version=$(apt-cache "${apt[@]}" show --no-all-versions "$2" 2>/dev/null | awk '$1 == "Version:" { print $2; exit }')
	unpacked=$cache/${2}_$version
	[ ! -d "$unpacked" ] || return 0
	part=$(mktemp -d "$cache/part.XXXXXX")
	if (cd "$part" && apt-get "${apt[@]}" download "$2=$version") >"$cache/log" 2>&1 && dpkg-deb -x "$part"/*.deb "$part/root"; then
		mv -T "$part/root" "$unpacked"
	else
		unpacked=
	fi
	rm -rf "$part"
	[ -n "$unpacked" ] || { echo "the package $2 cannot be fetched"; return 1; }
}

boot_get_kernel() { # SUITE SERIES
	local package
	exec {lock}>"$cache/lock" && flock "$lock"
	add_suite "$1" || return 1
	apt_options "$1"
	package=$(apt-cache "${apt[@]}" search --names-only "^linux-image-$2\\.[0-9].*-$flavour(-unsigned)?\$" |
		cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$package" ] || { echo "apt knows no kernel $2 (is its index read? apt-get update)"; return 1; }
	fetch "$1" "$package" || return 1
	image=$(echo "$unpacked"/boot/vmlinuz-*)
	exec {lock}>&-
}

# ---- the guest --------------------------------------------------------------------

# A program of this machine with what it is linked to.
copy_program() { # ROOT PROGRAM
	local file
	for file in "$2" $(ldd "$2" | grep -o '/[^ ]*'); do
		mkdir -p "$1$(dirname "$file")"
		cp -L "$file" "$1$file"
	done
}

boot_make_root() { # DIR
	local root=$1/r dir applet
	exec {lock}>"$cache/lock" && flock "$lock"
	fetch - busybox-static || return 1
	exec {lock}>&-
	mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},etc,dev,proc,sys,run,tmp,var/tmp,root,home/user} "$1/n"
	for dir in bin sbin lib lib64; do ln -s usr/$dir "$root/$dir"; done
	busybox=$unpacked/usr/bin/busybox
	[ -x "$busybox" ] || busybox=$unpacked/bin/busybox
	cp "$busybox" "$root/usr/bin/busybox"
	for applet in $("$busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/usr/bin/$applet"
	done
	copy_program "$root" "$(command -v bwrap)"
	printf '%s\n' root:x:0:0:root:/root:/bin/sh user:x:1000:1000:user:/home/user:/bin/sh >"$root/etc/passwd"
	printf '%s\n' root:x:0: tty:x:5: user:x:1000: >"$root/etc/group"
	cp tests/kernels/init "$root/usr/sbin/init"
	# A root of its own, since pivot_root(2) refuses the initramfs.
	cat >"$1/init" <<-'END'
	#!/r/usr/bin/busybox sh
	b=/r/usr/bin/busybox
	$b mount -t tmpfs -o mode=755,size=90% root /n
	$b cp -a /r/. /n/
	exec $b switch_root /n /usr/sbin/init
	END
	chmod 755 "$1/init" "$root/usr/sbin/init"
}

boot_pack() { (cd "$1" && find . -mindepth 1 | "$busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$2"; }

boot_run() { # IMAGE INITRAMFS OUTPUT MORE
	timeout -k 5 "${KERNELS_TIME:-120}" qemu-system-x86_64 -nodefaults -no-user-config -machine pc \
		-accel "$accel" -cpu max -m 512 -display none -no-reboot \
		-serial "file:$3.console" -serial "file:$3" -kernel "$1" -initrd "$2" \
		-append "console=ttyS0 rdinit=/init loglevel=4 panic=-1 $4" </dev/null 2>"$3.qemu"
}
