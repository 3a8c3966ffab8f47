/*
 * proxy/http.c - requests that are read.
 */
#include "proxy/conn.h"
#include "proxy/refuse.h"

void http_begin(struct conn *conn, const struct head *first)
{
	(void)first;
	refuse_text(conn, 501, "only CONNECT and SOCKS5 are spoken here");
}

void http_begin_tls(struct conn *conn)
{
	refuse_text(conn, 501, "TLS is not ended here");
}

void http_end(struct conn *conn)
{
	(void)conn;
}
