/*
 * blob/proof.h - what sbxc prove leaves for sbx-exec: one short text a policy and backend.
 *
 *	~/.local/share/sbx/proofs/DIGEST.BACKEND
 *
 *	format 1
 *	policy DIGEST
 *	values DIGEST          of each NAME=VALUE given with -D, in the order of the
 *	                       policy's params, each with the NUL at its end
 *	kernel RELEASE VERSION MACHINE
 *	landlock ABI ERRATA    decimal, hexadecimal
 *	launcher DIGEST        of sbx-exec
 *	backend DIGEST         of its program; of nothing where it has none
 *	time SECONDS           since 1970
 *
 * sbx-exec can write each line but the last itself, and compares.  The age stands in
 * the text: a file's own time is renewed by whatever copies or touches it.
 */
#ifndef SBX_BLOB_PROOF_H
#define SBX_BLOB_PROOF_H

#define SBX_PROOF_DIRECTORY "proofs" /* in ~/.local/share/sbx */
#define SBX_PROOF_FORMAT    "1"
#define SBX_PROOF_LINES	    7 /* in this order, each ended by NUL */
#define SBX_PROOF_NAMES	    "format\0policy\0values\0kernel\0landlock\0launcher\0backend\0"
#define SBX_PROOF_MAX	    1024 /* bytes */

#endif
