"""The host's side of tests/e2e/egress.sh: a plain and a TLS service on 127.0.0.1 (`egress_upstream.py
CERTIFICATE LOG`).  Says both ports, then writes each request's head to LOG and sends it back."""
import http.server, ssl, sys, threading

certificate, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)


class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        head = f"{self.command} {self.path}\n{self.headers}"
        log.write(head)
        body = f"UPSTREAM\n{head}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
safe = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate)
safe.socket = context.wrap_socket(safe.socket, server_side=True)
threading.Thread(target=safe.serve_forever, daemon=True).start()
print(plain.server_port, safe.server_port, flush=True)
plain.serve_forever()
