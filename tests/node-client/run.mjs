// run.mjs - runs one leg, by paths instead of descriptors, with its output as events.
//
// Usage: node run.mjs [--artefact PATH]... WORKSPACE COMMAND [ARG]...
// The program's output goes to standard output and error; the last line of standard output is the
// verdict (or the refusal) as JSON.  Exits with its client_status, or 125.
import { once } from "node:events";
import path from "node:path";
import { Failure, ask, connect, enums, plain } from "./client.mjs";

const OURS = 125;
const bytes = (text) => Buffer.from(text);

function parse(args) {
  const artefacts = [];
  while (args[0] === "--artefact") {
    if (args.length < 2) throw new Failure("--artefact PATH");
    artefacts.push(args[1]);
    args = args.slice(2);
  }
  if (args.length < 2) throw new Failure("usage: run.mjs [--artefact PATH]... WORKSPACE COMMAND [ARG]...");
  return { artefacts, workspace: path.resolve(args[0]), argv: args.slice(1) };
}

function request({ artefacts, workspace, argv }) {
  return {
    run: {
      argv: argv.map(bytes),
      grants: [{ kind: enums.GrantKind.GRANT_WORKSPACE, path: bytes(workspace) }],
      artefacts: artefacts.map((name) => ({ path: bytes(name) })),
      standard_output: { mode: enums.StreamMode.STREAM_EVENTS },
      standard_error: { mode: enums.StreamMode.STREAM_EVENTS },
    },
  };
}

async function show(output) {
  const stream = output.stream === 1 ? process.stdout : process.stderr;
  if (!stream.write(output.data)) await once(stream, "drain");
}

async function main() {
  const wish = parse(process.argv.slice(2));
  const socket = await connect();
  let status = OURS;
  for await (const [kind, answer] of ask(socket, request(wish), "verdict")) {
    if (kind === "output") await show(answer);
    if (kind !== "verdict" && kind !== "refused") continue;
    status = answer.client_status;
    process.stdout.write(`${JSON.stringify({ [kind]: plain(answer) })}\n`);
  }
  socket.destroy();
  return status;
}

main().then((status) => {
  process.exitCode = status;
}, (problem) => {
  process.stderr.write(`run.mjs: ${problem.message}\n`);
  process.exitCode = OURS;
});
