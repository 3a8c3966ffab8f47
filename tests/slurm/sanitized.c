/*
 * How sbx-chaperon runs under the sanitizers: it closes itself to ptrace, which the search
 * for leaks needs at its end.  Its environment is empty, so it cannot be told otherwise.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=1";
}
