#include "tests/escape/attack.h"

extern char **environ;

static void look(const char *variant, const char *text)
{
	for (char **at = environ; *at; at++)
		if (strstr(*at, text) && (!strstr(*at, "KEEP_LINES=") || !strcmp(text, "KEEP_LINES="))) {
			printf("%s done\n", variant);
			return;
		}
	printf("%s no\n", variant);
}

int main(void)
{
	look("first", "SECRET_FIRST");
	look("of-3000", "SECRET_2999");
	look("after-2-mib", "SECRET_LATE");
	look("no-equals", "SECRET_NO_EQUALS");
	look("empty-name", "SECRET_EMPTY_NAME");
	look("blank-in-name", "SECRET_BLANK");
	look("twice", "KEEP_TWICE");
	look("lower-case", "SECRET_LOWER");
	look("denied-pattern", "SECRET_DENIED");
	look("denied-and-blank", "SECRET_TRAILING");
	look("prefixed", "SECRET_PREFIX");
	return 0;
}
