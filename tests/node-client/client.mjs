// client.mjs - frames over the socket, and one request at a time: what PROTOCOL.md says, no more.
import net from "node:net";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

const FRAME_MAX = 131072;
const HEADER = 4;
const PROTOCOL = 1;

const schema = process.env.SAPHAN_PROTO
  ?? fileURLToPath(new URL("../../proto/saphan.proto", import.meta.url));
const root = new protobuf.Root().loadSync(schema, { keepCase: true });
const ClientFrame = root.lookupType("saphan.v1.ClientFrame");
const ServerFrame = root.lookupType("saphan.v1.ServerFrame");
export const enums = Object.fromEntries(["GrantKind", "StreamMode", "Colour"]
  .map((name) => [name, root.lookupEnum(`saphan.v1.${name}`).values]));

export class Failure extends Error {}

export function socketPath() {
  return process.env.SAPHAN_SOCKET || "/run/saphan/saphan.sock";
}

export async function connect(path = socketPath()) {
  const socket = net.createConnection({ path });
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}

function pack(request, body) {
  const problem = ClientFrame.verify({ protocol: PROTOCOL, request, ...body });
  if (problem) throw new Failure(problem);
  const message = ClientFrame.encode({ protocol: PROTOCOL, request, ...body }).finish();
  if (message.length > FRAME_MAX) throw new Failure("the request is too big for a frame");
  const frame = Buffer.alloc(HEADER + message.length);
  frame.writeUInt32LE(message.length);
  frame.set(message, HEADER);
  return frame;
}

// Cuts the stream into frames.  Awaiting each one is what holds a fast leg back.
async function* frames(socket) {
  let waiting = Buffer.alloc(0);
  for await (const piece of socket) {
    waiting = waiting.length ? Buffer.concat([waiting, piece]) : piece;
    while (waiting.length >= HEADER) {
      const length = waiting.readUInt32LE();
      if (length === 0) throw new Failure("saphand is too busy: come again");
      if (length > FRAME_MAX) throw new Failure(`a frame of ${length} bytes`);
      if (waiting.length < HEADER + length) break;
      yield ServerFrame.decode(waiting.subarray(HEADER, HEADER + length));
      waiting = waiting.subarray(HEADER + length);
    }
  }
}

// Sends BODY and yields [kind, message] of each answer; the last one is of a kind in LAST, or
// "refused".  A connection that ends before is a failure.
export async function* ask(socket, body, last, request = 1) {
  socket.write(pack(request, body)); // our side stays open: closing it would mean that we are gone
  for await (const frame of frames(socket)) {
    if (Number(frame.request) !== request && frame.body !== "refused")
      throw new Failure("an answer to something else");
    if (!frame.body) continue; // a body of a newer saphand
    yield [frame.body, frame[frame.body]];
    if (frame.body === last || frame.body === "refused") return;
  }
  throw new Failure("the connection ended before the last answer");
}

// Plain values for JSON: numbers beyond 2^53 as text, bytes as text.
export function plain(message) {
  const object = message.$type.toObject(message, { longs: String, enums: String, defaults: true });
  const texts = (value) => {
    if (Buffer.isBuffer(value) || value instanceof Uint8Array) return Buffer.from(value).toString();
    if (Array.isArray(value)) return value.map(texts);
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, texts(of)]));
    return value;
  };
  return texts(object);
}
