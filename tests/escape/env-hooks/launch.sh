# What an earlier session may have put into the caller's environment.
exec env LD_PRELOAD="$PWD/hook.so" LD_AUDIT="$PWD/hook.so" LD_LIBRARY_PATH="$PWD" BASH_ENV="$PWD/hook-bash.sh" \
	ENV="$PWD/hook-env.sh" PYTHONPATH="$PWD:$PYTHONPATH" PERL5OPT=-MHook PERL5LIB="$PWD" \
	GIT_EXTERNAL_DIFF="$PWD/hook-bash.sh" "$@"
