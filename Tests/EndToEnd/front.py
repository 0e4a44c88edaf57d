"""Stands between linkd and the emulator, so that a test can take the way away: killed, it refuses; stopped, it says nothing.

usage: front.py PORT EMULATOR               hands bytes on
       front.py PORT EMULATOR CERT KEY      a proxy that answers for any host over TLS with that certificate

It prints the port it listens on; PORT 0 is any free one.
"""

import http.client
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, EMULATOR, CERTIFICATE = int(sys.argv[1]), sys.argv[2], sys.argv[3:]


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


def relay():
    host, port = EMULATOR.split(":")
    listener = socket.create_server(("127.0.0.1", PORT))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection((host, int(port)))
        for ends in ((client, server), (server, client)):
            threading.Thread(target=copy, args=ends, daemon=True).start()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host = ""

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        self.host = self.path.partition(":")[0]
        self.send_response(200)
        self.end_headers()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*CERTIFICATE)
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        onward = http.client.HTTPConnection(EMULATOR, timeout=30)
        headers = {"Content-Type": self.headers.get("Content-Type", "application/json")}
        onward.request("POST", f"/{self.host}{self.path}", body, headers)
        answer = onward.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # A client that refuses the certificate is what the test is about.


if CERTIFICATE:
    server = Server(("127.0.0.1", PORT), Proxy)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    relay()
