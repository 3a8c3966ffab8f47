/*
 * probe/protocol.h - what sbx-probe is asked, and what it answers.
 *
 * Requests come on standard input, one a line, until its end; the answers go to
 * standard output, one a line, in the same order.  A word that could be cut or
 * misread has its odd bytes as %XX.
 *
 *	read PATH       open it to read
 *	write PATH      open it to write: nothing is cut short or written
 *	make PATH       make that new name, and remove it
 *	mkdir PATH      the same, a directory
 *	move PATH       give it another name, and its own again
 *	exchange PATH   put a new file in its place, and it back
 *	link PATH       give it a second name, and open that to write
 *	unlink PATH     take the name away, and make the same anew
 *	over PATH       rename something new over that name, which is nothing's
 *	displace PATH   rename away what holds that name, and make a file of it
 *	list, refer, truncate, rmdir, remove, mkfile, mksubdir, mkfifo, mksocket, mknod,
 *	symlink DIRECTORY
 *			read it, or do that to what it holds (PROBE_KIND_*) or in it
 *	exec PATH       would execve(2) take it?  (AT_EXECVE_CHECK)
 *	run PATH        execute it: only for copies of sbx-probe itself
 *	call NUMBER ARGUMENT*6
 *	env NAME
 *	tcp PORT        connect to 127.0.0.1
 *	unix PATH, abstract NAME
 *	proxy HOST:PORT ask the session's proxy for a tunnel there
 *	slurm COMMAND   ask sbx-chaperon something that it refuses, by the client of PATH
 *	listen PORT     on every address
 *	port PORT       is it taken?
 *	bind DIRECTORY  listen on a socket in it
 *	wait MS
 *	use terminal|pty|user-namespaces|landlock
 *	fd NUMBER       is it open?
 *	limit NAME VALUE
 *
 * Answers:
 *
 *	ok              it was done
 *	value TEXT      env: it has that value
 *	error NUMBER    errno, as the kernel gave it
 *	refused TEXT    by the proxy: its reason, with odd bytes as %XX
 *	signal NUMBER   the call ended the process that made it
 *	gone            it did not come back: it was let through
 */
#ifndef SBX_PROBE_PROTOCOL_H
#define SBX_PROBE_PROTOCOL_H

#define PROBE_QUIET "--quiet" /* what a copy is executed with: it just ends */
#define PROBE_PROXY_PORT 3128 /* of 127.0.0.1, in each session of mode proxy */
#define PROBE_SLURM_OPTION "--sbx-prove" /* no client has it */
#define PROBE_KIND_EMPTY "empty" /* a directory, to be removed */
#define PROBE_KIND_GONE	 "gone"	 /* a file, to be removed */
#define PROBE_KIND_FROM	 "from"	 /* a directory with PROBE_KIND_FILE in it */
#define PROBE_KIND_TO	 "to"	 /* a directory without */
#define PROBE_KIND_FILE	 "file"
#define PROBE_PATH_SUFFIX ".sbx-probe" /* of the names that move and exchange make */

#endif
