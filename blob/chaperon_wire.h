/*
 * blob/chaperon_wire.h - what is said to sbx-chaperon, by sbx-exec and by the clients.
 *
 * sbx-exec says it by the messages of helper_wire.h.  When its end closes, the session is
 * over: sbx-chaperon ends the clients that run and itself.
 *
 *	sbx-exec                        sbx-chaperon
 *	SESSION (descriptors)  ------>
 *	                       <------  READY, or FAILED and its end
 *	LISTEN (a socket)      ------>
 *	                       <------  NOTE, whenever the person should know
 *
 * A client inside (sbx-slurm, linked as sbatch, srun, ...) connects to that socket, a
 * Unix stream.  One connection is one command.
 */
#ifndef SBX_BLOB_CHAPERON_WIRE_H
#define SBX_BLOB_CHAPERON_WIRE_H

#include "blob/helper_wire.h"

#define SBX_CHAPERON_WIRE_VERSION 1

/* Where a client finds the socket, on every backend: a variable that the launcher sets. */
#define SBX_CHAPERON_VARIABLE "SBX_SLURM_SOCKET"

/* ---- sbx-exec and sbx-chaperon ------------------------------------------------------ */
/* HELPER_READY: the tables fit the real clients.  HELPER_LISTEN: a Unix stream socket. */

/* Descriptors of HELPER_SESSION, in this order. */
enum chaperon_descriptor {
	CHAPERON_FD_BLOB,   /* sealed memory file: the blob as it was checked */
	CHAPERON_FD_VALUES, /* sealed memory file, see below */
	CHAPERON_FD_LOG,    /* JSON lines are appended; absent: none wanted */
};

/*
 * The values: strings, each ended by NUL, in any order:
 *	session ID          as it stands in the log
 *	backend NAME        what holds the session; a job's must hold as much
 *	home PATH           the caller's home, of passwd
 *	user NAME           the caller's login name
 *	state PATH          where records of jobs lie: outside every write grant
 *	jobs PATH           where jobs find their envelopes: the same, and on the nodes, too
 *	var NAME=VALUE      a variable of the language ("home", "workspace", ...)
 *	param NAME=VALUE    a parameter of the policy
 *	env NAME=VALUE      a variable of the caller's: SLURM_CONF and LANG are heeded, and
 *	                    with `job` SLURM_*
 *	job ID              of Slurm's, that the session runs in: srun makes steps of it
 */

/* ---- a client and sbx-chaperon ------------------------------------------------------ */
/*
 * Each side sends frames: this head, then @size bytes.  Little-endian, as all of sbx.
 *
 *	client                                chaperon
 *	HELLO                         ------>
 *	ARGUMENT each, ENV each, CWD  ------>
 *	RUN                           ------>
 *	                              <------  WANT_SCRIPT NAME: of a batch job; no name: stdin
 *	SCRIPT each piece             ------>
 *	                              <------  WANT_INPUT
 *	INPUT each piece              ------>
 *	                              <------  OUTPUT, ERROR pieces
 *	                              <------  EXIT, and the end
 *
 * The client opens a script itself, inside: its name is never opened outside.  All up to
 * RUN has to arrive within CHAPERON_FRAME_SECONDS of the connection; the same holds for
 * each frame once its first byte is there, and for the script once others wait.
 */
#define CHAPERON_FRAME_MAGIC 0x53584253u /* "SBXS" */
#define CHAPERON_FRAME_MAX (1u << 20)    /* bytes behind a head */
#define CHAPERON_REQUEST_MAX (2u << 20)  /* arguments, environment, cwd together */
#define CHAPERON_SCRIPT_MAX (16u << 20)
#define CHAPERON_STRINGS_MAX 8192        /* arguments and variables together */
#define CHAPERON_CLIENTS_MAX 64
#define CHAPERON_FRAME_SECONDS 5

struct chaperon_frame {
	uint32_t magic;
	uint8_t version; /* SBX_CHAPERON_WIRE_VERSION */
	uint8_t kind;    /* enum chaperon_frame_kind */
	uint16_t zero;
	uint32_t size;
};

enum chaperon_frame_kind {
	/* of the client's; a string is sent without its NUL and holds none */
	CHAPERON_HELLO = 1, /* struct chaperon_hello */
	CHAPERON_ARGUMENT,  /* string; the first is the command's name */
	CHAPERON_ENV,       /* string NAME=VALUE */
	CHAPERON_CWD,       /* string: an absolute path */
	CHAPERON_SCRIPT,    /* bytes of the script; an empty piece is its end */
	CHAPERON_NO_SCRIPT, /* string: why it cannot be read */
	CHAPERON_RUN,       /* nothing */
	CHAPERON_INPUT,     /* bytes of standard input; an empty piece is its end */
	CHAPERON_RESIZE,    /* struct chaperon_hello: the terminal has another size */
	CHAPERON_SIGNAL,    /* uint32_t: SIGINT, SIGTERM, ... that the client got */
	/* of the chaperon's */
	CHAPERON_WANT_SCRIPT = 64, /* string: a name as the client knows it */
	CHAPERON_WANT_INPUT,       /* nothing */
	CHAPERON_OUTPUT,           /* bytes for standard output */
	CHAPERON_ERROR,            /* bytes for standard error */
	CHAPERON_TERMINAL,         /* nothing: the command runs on a terminal, go raw */
	CHAPERON_EXIT,             /* uint32_t: a wait status */
};

struct chaperon_hello {
	uint32_t terminal; /* bit N: descriptor N is a terminal */
	uint16_t rows, columns;
};

#endif
