/*
 * blob/proxy_wire.h - what sbx-exec and sbx-proxy say to each other.
 *
 * The messages are those of helper_wire.h and some more.  When the other end sends no
 * more, the session is over: sbx-proxy ends.
 *
 *	sbx-exec                        sbx-proxy
 *	SESSION (descriptors)  ------>
 *	                       <------  READY, or FAILED and its end
 *	LISTEN (a socket)      ------>
 *	EXPECT, FORGET         ------>  where each connection is announced
 *	                       <------  NOTE, whenever the person should know
 *	its half is shut       ------>
 *	                       <------  SUMMARY, for each host, and its end
 */
#ifndef SBX_BLOB_PROXY_WIRE_H
#define SBX_BLOB_PROXY_WIRE_H

#include "blob/helper_wire.h"

#define SBX_PROXY_WIRE_VERSION 1

/* Where the program finds the proxy, on every backend: 127.0.0.1, this port.  std/proxy
 * has it in its variables. */
#define SBX_PROXY_PORT 3128

/*
 * HELPER_READY: the bundle is written, each credential was got once.  HELPER_LISTEN:
 * @value is PROXY_EXPECTED or 0.
 */
enum proxy_message_kind {
	PROXY_EXPECT = HELPER_OWN, /* @value: one connection from 127.0.0.1 with this port is the program's */
	PROXY_FORGET,              /* @value: that one does not come */
	PROXY_SUMMARY,             /* @text: a line for the end: one host and what did not go; @value
				    * 1: it stands for more than one */
};
#define PROXY_EXPECTED 1 /* drop each connection that was not announced: others can reach it */

/* Descriptors of HELPER_SESSION, in this order. */
enum proxy_descriptor {
	PROXY_FD_BLOB,   /* sealed memory file: the blob as it was checked */
	PROXY_FD_VALUES, /* sealed memory file, see below */
	PROXY_FD_BUNDLE, /* an empty file to write: roots of trust for the program, PEM */
	PROXY_FD_LOG,    /* JSON lines are appended; absent: none wanted */
};

/*
 * The values: strings, each ended by NUL, in any order:
 *	session ID              as it stands in the log
 *	roots PATH              the system's bundle of roots
 *	var NAME=VALUE          a variable of the language ("home", "workspace", ...)
 *	param NAME=VALUE        a parameter of the policy
 *	env NAME=VALUE          a variable of the caller's that a credential has as source
 *	placeholder NAME=VALUE  what stands for credential NAME inside
 *
 * A credential without a placeholder is `optional` and its source absent: nothing of
 * it is read, and nothing is put in.
 */

#endif
