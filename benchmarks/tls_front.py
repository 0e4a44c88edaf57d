"""A proxy that answers for Google's hosts over TLS, with a certificate of this run, and hands on to the emulator."""

import os
import subprocess
import sys
import threading

# The same proxy as in the end-to-end tests.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "EndToEnd"))
from front import Proxy

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
        self.server = Proxy(0, emulator, chain, key)
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.environment = {"https_proxy": address, "HTTPS_PROXY": address, "no_proxy": "", "NO_PROXY": "", "SSL_CERT_FILE": bundle}

    @property
    def answered(self):
        """How many requests went through it."""
        return self.server.answered

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
