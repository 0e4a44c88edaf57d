"""Stands between linkd and the emulator, so that a test can take the way away: killed, it refuses; stopped, it says nothing.

usage: front.py PORT EMULATOR               hands bytes on
       front.py PORT EMULATOR CERT KEY      a proxy that answers for any host over TLS with that certificate

It prints the port it listens on; PORT 0 is any free one. The benchmark runs the proxy within itself.
"""

import http.client
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def relay(port, emulator):
    host, emulator_port = emulator.split(":")
    listener = socket.create_server(("127.0.0.1", port))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection((host, int(emulator_port)))
        for ends in ((client, server), (server, client)):
            threading.Thread(target=copy, args=ends, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host = ""

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        self.host = self.path.partition(":")[0]
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def hand_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        onward = http.client.HTTPConnection(self.server.emulator, timeout=30)
        onward.request(self.command, f"/{self.host}{self.path}", body, kept)
        answer = onward.getresponse()
        content = answer.read()
        onward.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.server.answered += 1

    do_GET = do_POST = hand_on


class Proxy(ThreadingHTTPServer):
    """Answers for any host over TLS. `answered` counts."""

    daemon_threads = True

    def __init__(self, port, emulator, certificate, key):
        super().__init__(("127.0.0.1", port), Handler)
        self.emulator = emulator
        self.answered = 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    def handle_error(self, *_):
        pass  # A client that refuses the certificate is what a test is about; one that drops its connection is no news.


if __name__ == "__main__":
    port, emulator, *certificate = sys.argv[1:]
    if certificate:
        proxy = Proxy(int(port), emulator, *certificate)
        print(proxy.server_address[1], flush=True)
        proxy.serve_forever()
    else:
        relay(int(port), emulator)
