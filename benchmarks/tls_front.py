"""A proxy that answers for Google's hosts over TLS, with a certificate of this run, and hands on to the emulator."""

import http.client
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOSTS = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com"]
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def certificates(folder):
    """Makes an authority and a certificate for HOSTS; gives the server's file and the bundle that trusts it."""
    key, authority, request, server = (f"{folder}/{name}" for name in ("ca.key", "ca.pem", "server.csr", "server.pem"))
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    run("req", "-x509", *curve, "-keyout", key, "-out", authority, "-days", "2", "-subj", "/CN=benchmark")
    run("req", *curve, "-keyout", f"{folder}/server.key", "-out", request, "-subj", f"/CN={HOSTS[0]}")
    with open(f"{folder}/server.ext", "w") as file:
        file.write("subjectAltName=" + ",".join("DNS:" + host for host in HOSTS))
    run("x509", "-req", "-in", request, "-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", "2",
        "-extfile", f"{folder}/server.ext", "-out", server)
    # The machine's own bundle is loaded as in real life, with one more authority.
    with open(f"{folder}/bundle.pem", "w") as out:
        for part in (BUNDLE, authority):
            if os.path.exists(part):
                with open(part) as file:
                    out.write(file.read())
    return server, f"{folder}/server.key", f"{folder}/bundle.pem"


class TLSFront:
    """Used in a `with`; `environment` makes a program go through it."""

    def __init__(self, folder, emulator):
        chain, key, bundle = certificates(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        front = self
        self.answered = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            host = ""

            def log_message(self, *_):
                pass

            def do_CONNECT(self):
                self.host = self.path.partition(":")[0]
                self.send_response(200)
                self.end_headers()
                self.connection = context.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
                self.close_connection = False

            def hand_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                onward = http.client.HTTPConnection(emulator, timeout=10)
                kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
                onward.request(self.command, f"/{self.host}{self.path}", body, kept)
                answer = onward.getresponse()
                content = answer.read()
                onward.close()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                front.answered += 1

            do_GET = do_POST = hand_on

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                # A connection that its client drops is no news.
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.environment = {"https_proxy": address, "HTTPS_PROXY": address, "no_proxy": "", "NO_PROXY": "", "SSL_CERT_FILE": bundle}

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
