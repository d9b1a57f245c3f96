#!/usr/bin/env python3
"""crowd.py SOCKET N - opens N connections at once; each that asks gets an answer or "too busy", and
when they are gone a fresh one is served."""
import resource
import socket
import struct
import sys
import time

path, wanted = sys.argv[1], int(sys.argv[2])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 200), hard))
ASK = bytes((8, 1, 16, 7, 122, 0))  # protocol 1, request 7, status {}


def ask(client):
    client.settimeout(30)
    try:
        client.sendall(struct.pack("<I", len(ASK)) + ASK)
        head = client.recv(4)
    except ConnectionError:
        return "ended"
    except socket.timeout:
        return "silent"
    if len(head) < 4:
        return "ended"
    return "busy" if struct.unpack("<I", head)[0] == 0 else "answered"


clients = []
for _ in range(wanted):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(path)
    clients.append(client)
answers = {}
for client in clients:
    answer = ask(client)
    answers[answer] = answers.get(answer, 0) + 1
for client in clients:
    client.close()
print("%d connections: %s" % (wanted, answers))
deadline = time.monotonic() + 30
while True:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(path)
    after = ask(client)
    client.close()
    if after == "answered" or time.monotonic() > deadline:
        break
    time.sleep(0.05)
print("after them: %s" % after)
sys.exit(0 if after == "answered" and answers.get("answered") and not answers.get("silent") else 1)
