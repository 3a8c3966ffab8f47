cat >hook.c <<'EOF'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void fire(void)
{
	char outside[256];

	snprintf(outside, sizeof(outside), "%s/fired", getenv("HOME") ? getenv("HOME") : "");
	close(open(outside, O_CREAT | O_WRONLY, 0600));
	close(open("fired-preload", O_CREAT | O_WRONLY, 0600));
}
EOF
gcc -shared -fPIC -o hook.so hook.c
for name in bash env python perl; do
	case $name in
	python) echo 'open("fired-python", "w").close()' >sitecustomize.py ;;
	perl) echo 'open(my $f, ">", "fired-perl"); 1;' >Hook.pm ;;
	*) echo ": >fired-$name; : >\"\$HOME/fired\"" >hook-$name.sh ;;
	esac
done
