#!/bin/bash
# door.sh - codex against a model server outside of its leg: through the door, through a forward, and through a
# forward that holds its key for it.
if [ -z "${DOOR_WORLD:-}" ]; then
    export DOOR_WORLD=1
    exec unshare -n -- "$(readlink -f "$0")" "$@"
fi
. "$(dirname "$(readlink -f "$0")")/lib.sh"
# shellcheck source-path=SCRIPTDIR/../e2e source=door_world.bash
. "$TESTS/e2e/door_world.bash"
POLICY_HOSTS='*.example.test:*'
open_world
have codex @openai/codex
codex=$root/node_modules/.bin/codex
secret=sk-model-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
echo "Bearer $secret" >"$T/key" && chmod 600 "$T/key" && owned "$T/key"
# The model, and the same behind TLS; what key it was shown stands in $T/shown.
PORT=8081 LOGF=$T/model.log ARTE="$W/ws/artefact.txt" "$node" "$T/model.mjs" >/dev/null 2>&1 </dev/null &
cat >"$T/front.mjs" <<'JS'
import fs from 'node:fs'; import net from 'node:net'; import tls from 'node:tls';
const [folder] = process.argv.slice(2), pem = fs.readFileSync(folder + '/server.pem');
const serve = (socket) => {
    const model = net.connect(8081, '127.0.0.1');
    socket.on('data', (data) => { const key = /^authorization: (.*)\r$/im.exec(data.toString('latin1'));
        if (key) fs.appendFileSync(folder + '/shown', key[1] + '\n'); });
    socket.pipe(model).pipe(socket);
    for (const end of [socket, model]) end.on('error', () => { socket.destroy(); model.destroy(); });
};
tls.createServer({ key: pem, cert: pem }, serve).listen(8443, '11.22.33.44');
net.createServer(serve).listen(8082, '11.22.33.44');
JS
"$node" "$T/front.mjs" "$T" >/dev/null 2>&1 </dev/null &
await 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/8081'
await 20 bash -c 'exec 3<>/dev/tcp/11.22.33.44/8443'
start() { # BASE-URL
    fresh
    : >"$T/shown"
    codex_settings "$1" | seat .codex/config.toml
}
run() { # OPTION...: of saphan run
    turn --net door --env MOCK_KEY=of-the-agent "$@" -- "$codex" exec --dangerously-bypass-approvals-and-sandbox \
        --skip-git-repo-check --disable plugins --disable apps -c analytics.enabled=false -c otel.exporter=none \
        "Write artefact.txt"
}
start http://model.example.test:8082/v1
run --allow model.example.test:8082
green "through the door"
check "codex: and the door tells it" grep -q '"subject":"model.example.test:8082"' "$T/json"
start http://127.0.0.1:8080/v1
run --forward 8080=model.example.test:8082
green "through a forward"
start http://127.0.0.1:8080/v1
run --forward "8080=https://model.example.test:8443,header=Authorization:@$T/key,ca=@$T/ca.pem"
green "through a forward that holds its key"
equal "codex: the model saw that key and no other" "Bearer $secret" "$(sort -u "$T/shown")"
check_not "codex: it is in nothing that was told or kept" grep -rqa "$secret" "$T/json" "$T/out" "$T/err" "$T/door.log" "$T/door/state" "$W"
start http://model.example.test:8082/v1
run
expect "codex: an empty list: no turn" "$rc" RED
check_not "codex: and no artefact" test -s "$W/ws/artefact.txt"
check "codex: what it asked for is told" grep -q 'host-not-listed' "$T/json"
finish
