#!/usr/bin/env python3
"""door_servers.py FOLDER - what stands outside of the legs in door.sh, in a network namespace of its own.

Answers names on 127.0.0.1:53; serves HTTP on PUBLIC:80 and TLS on PUBLIC:443, and tells what it was asked
in FOLDER/http.log and FOLDER/tls.log.  Writes FOLDER/ready when all of it listens.
"""
import gzip
import http.server
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

FOLDER = sys.argv[1]
PUBLIC = "11.22.33.44"
NAMES = {
    "api.example.test": [PUBLIC],
    "deep.under.example.test": [PUBLIC],
    "example.test": [PUBLIC],
    "model.example.test": [PUBLIC],
    "other.test": [PUBLIC],
    "inside.example.test": ["127.0.0.1"],
    "metadata.example.test": ["169.254.169.254"],
    "mixed.example.test": [PUBLIC, "10.0.0.1"],
    "closed.example.test": ["11.22.33.55"],
}
REBIND = {"rebind.example.test": 0}


def answer_name(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    name = ".".join(labels).lower()
    addresses = NAMES.get(name, [])
    if name in REBIND:
        REBIND[name] += 1
        addresses = [PUBLIC] if REBIND[name] == 1 else ["127.0.0.1"]
    if kind != 1:
        addresses = []
    known = name in NAMES or name in REBIND
    out = query[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, len(addresses), 0, 0)
    out += query[12:at + 5]
    for address in addresses:
        out += struct.pack(">HHHIH", 0xc00c, 1, 1, 0, 4) + socket.inet_aton(address)
    return out


def serve_names():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 53))
    while True:
        query, client = sock.recvfrom(2048)
        try:
            sock.sendto(answer_name(query), client)
        except (IndexError, struct.error, UnicodeDecodeError):
            pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_name = "http.log"

    def log_message(self, *_args):
        pass

    def note(self, body=b""):
        with open(os.path.join(FOLDER, self.log_name), "a") as log:
            log.write("%s %s host=%s key=%s body=%d\n" % (
                self.command, self.path, self.headers.get("Host"), self.headers.get("X-Key"), len(body)))

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_file(self, path):
        try:
            with open(FOLDER + path, "rb") as file:
                self.reply(200, file.read())
        except OSError:
            self.reply(404, b"not here\n")

    def do_GET(self):
        self.note()
        if self.path == "/redirect":
            self.reply(302, b"", [("Location", "http://other.test/secret")])
        elif self.path == "/reflect":
            self.reply(400, ("you sent %s\n" % self.headers.get("X-Key")).encode())
        elif self.path.startswith("/reflect-in-pieces"):
            self.reflect_in_pieces(int(self.path.rpartition("/")[2]))
        elif self.path == "/reflect-packed":
            self.reply(400, gzip.compress(("you sent %s\n" % self.headers.get("X-Key")).encode()),
                       [("Content-Encoding", "gzip")])
        elif self.path == "/reflect-in-an-extension":
            self.send_response(400)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"1;a=%s\r\nx\r\n0\r\n\r\n" % self.headers.get("X-Key").encode())
        elif self.path == "/reflect-a-part":
            self.reflect_a_part()
        elif self.path == "/stream":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for i in range(30):
                self.wfile.write(b"data: %d %f\n\n" % (i, time.time()))
                self.wfile.flush()
                time.sleep(0.1)
            self.close_connection = True
        elif self.path == "/npm/tiny":
            self.reply_file("/www/tiny/index.json")
        elif self.path.startswith("/www/"):
            self.reply_file(self.path.split("?")[0])
        elif self.path.startswith("/late"):
            number = int(self.path[len("/late"):])
            self.reply(200, b"".join(b"%d:%d\n" % (number, line) for line in range(400000)))
        elif self.path.startswith("/big"):
            self.reply(200, b"x" * 5000000)
        else:
            self.reply(200, b"hello from %s\n" % self.headers.get("Host", "").encode())

    def reflect_in_pieces(self, size):
        """What was sent, in chunks of SIZE bytes: a reader puts them together again."""
        text = ("you sent %s, and that is all\n" % self.headers.get("X-Key")).encode()
        self.send_response(103)
        self.end_headers()
        self.send_response(400)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(text), size):
            part = text[at:at + size]
            self.wfile.write(b"%x \r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def reflect_a_part(self):
        """As a server of files does: the bytes of the answer that were asked for."""
        text = ("you sent %s\n" % self.headers.get("X-Key")).encode()
        first, _, last = (self.headers.get("Range") or "bytes=0-99999").partition("=")[2].partition("-")
        self.reply(206, text[int(first):int(last) + 1])

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.note(body)
        self.reply(200, b"got %d\n" % len(body))


class TlsHandler(Handler):
    log_name = "tls.log"


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_args):
        pass


class TlsServer(Server):
    def get_request(self):
        sock, address = super().get_request()
        return CONTEXT.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), address


def serve(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()


threading.Thread(target=serve_names, daemon=True).start()
serve(Server((PUBLIC, 80), Handler))
serve(Server(("127.0.0.1", 8000), Handler))
if os.path.exists(os.path.join(FOLDER, "server.pem")):
    CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    CONTEXT.load_cert_chain(os.path.join(FOLDER, "server.pem"))
    serve(TlsServer((PUBLIC, 443), TlsHandler))
with open(os.path.join(FOLDER, "ready"), "w") as ready:
    ready.write("ready\n")
threading.Event().wait()
