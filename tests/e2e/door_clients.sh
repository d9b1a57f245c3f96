#!/bin/bash
# door_clients.sh - real programs through a door and through forwards: what they need is in their environment.
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world
door() { leg --net door "$@"; }

# ---- fetchers ----
door --allow '*.example.test:80' -- sh -c 'wget -q -O - http://api.example.test/wget; wget -q -O - http://other.test/; echo $?'
equal "wget" "hello from api.example.test
8" "$(output)"
door --allow api.example.test --read "$T/ca.pem" -- wget -q -O - --ca-certificate="$T/ca.pem" https://api.example.test/
equal "wget, TLS" "hello from api.example.test" "$(output)"
cat >"$W/fetch.py" <<'PY'
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=5).read().decode().strip())
    except urllib.error.URLError as error:
        print("refused", getattr(error, "code", error.reason))
PY
door --allow '*.example.test:80' --read "$W/fetch.py" -- \
    python3 "$W/fetch.py" http://api.example.test/ http://other.test/ https://api.example.test/
equal "python urllib" "hello from api.example.test
refused 403
refused Tunnel connection failed: 403 Forbidden" "$(output)"
cat >"$W/requests.py" <<'PY'
import requests
print(requests.get("http://api.example.test/", timeout=5).text.strip())
print(requests.get("https://api.example.test/", timeout=5, verify="ca.pem").text.strip())
print(requests.get("http://other.test/", timeout=5).status_code)
PY
mv "$W/requests.py" "$W/requests_test.py"; cp "$T/ca.pem" "$W/ca.pem"
if /usr/bin/python3 -c 'import requests' 2>/dev/null; then
    door --allow '*.example.test:80' --allow api.example.test --workspace "$W" -- /usr/bin/python3 requests_test.py
    equal "python requests" "hello from api.example.test
hello from api.example.test
403" "$(output)"
else
    skip "python requests" "python3-requests is not installed"
fi

# ---- git over http ----
git init -q --bare "$T/www/git/repo.git" 2>/dev/null || { mkdir -p "$T/www/git" && git init -q --bare "$T/www/git/repo.git"; }
git init -q "$T/src" && (cd "$T/src" && echo content >file && git add file &&
    git -c user.name=t -c user.email=t@t commit -qm one && git push -q "$T/www/git/repo.git" HEAD:refs/heads/main)
git -C "$T/www/git/repo.git" symbolic-ref HEAD refs/heads/main
git -C "$T/www/git/repo.git" update-server-info
mkdir "$W/ws" && owned "$W/ws"
door --allow '*.example.test:80' --workspace "$W/ws" -- sh -c 'git clone -q http://api.example.test/www/git/repo.git here && cat here/file'
equal "git clone over http" content "$(output)"
door --allow '*.example.test:80' --workspace "$W/ws" -- sh -c 'timeout 10 git clone -q http://other.test/www/git/repo.git there 2>&1 | tail -n 1'
check "git: a host that is not on the list fails at once and says 403" grep -q 403 "$T/out"

# ---- npm ----
mkdir -p "$T/package" && printf '{"name": "tiny", "version": "1.0.0", "main": "index.js"}\n' >"$T/package/package.json"
echo 'module.exports = 42;' >"$T/package/index.js"
mkdir -p "$T/www/tiny" && tar -C "$T" -czf "$T/www/tiny/tiny-1.0.0.tgz" package
cat >"$T/www/tiny/index.json" <<JSON
{"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "tiny", "version": "1.0.0",
 "main": "index.js", "dist": {"tarball": "http://api.example.test/www/tiny/tiny-1.0.0.tgz",
 "shasum": "$(sha1sum "$T/www/tiny/tiny-1.0.0.tgz" | cut -d' ' -f1)"}}}}
JSON
rm -rf "$W/ws" && mkdir "$W/ws" && echo '{"private": true}' >"$W/ws/package.json" && owned "$W/ws"
node_root=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
case $node_root in /usr | /) node_read=() ;; *) node_read=(--read "$node_root") ;; esac
door --allow '*.example.test:80' --workspace "$W/ws" "${node_read[@]}" -- sh -c '
    npm install --no-audit --no-fund --registry http://api.example.test/npm/ tiny >npm.log 2>&1 || cat npm.log
    node -p "require(\"tiny\")"'
equal "npm install from a registry" 42 "$(output)"

# ---- node ----
cat >"$W/fetch.mjs" <<'JS'
for (const url of process.argv.slice(2)) {
    const begin = Date.now();
    try { console.log((await (await fetch(url)).text()).trim()); }
    catch (error) { console.log(Date.now() - begin < 2000 ? "failed at once" : "failed late"); }
}
JS
door --forward 8080=api.example.test:80 --read "$W/fetch.mjs" "${node_read[@]}" -- node "$W/fetch.mjs" http://127.0.0.1:8080/ http://api.example.test/
equal "node fetch: a forward leads out; a host that no proxy was used for fails at once" "hello from 127.0.0.1:8080
failed at once" "$(output)"
node_with_proxy=
for node in node "${SAPHAN_VENDORS:-/var/cache/saphan-tests/vendors}"/node*/node_modules/.bin/node; do
    "$node" -e 'process.exit(process.allowedNodeEnvironmentFlags.has("--use-env-proxy") ? 0 : 1)' 2>/dev/null && node_with_proxy=$node
done
if [ -n "$node_with_proxy" ]; then
    real=$(readlink -f "$node_with_proxy")
    door --allow '*.example.test:80' --read "$W/fetch.mjs" --read "$real" -- "$real" "$W/fetch.mjs" http://api.example.test/ http://other.test/
    check "node fetch through NODE_USE_ENV_PROXY" grep -q 'hello from api.example.test' "$T/out"
    check "and what is not on the list is told" grep -q host-not-listed "$T/out" "$T/json"
else
    echo "# node fetch through NODE_USE_ENV_PROXY: this node does not know it"
fi

# ---- a JVM: the variable is what a leg is given; where one is installed, it finds its way by it ----
door -- sh -c 'echo "$NODE_USE_ENV_PROXY $JAVA_TOOL_OPTIONS"'
check "a plain program is told for node and the JVM: $(output)" grep -q '^1 -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 ' "$T/out"
if java=$(readlink -f "$(command -v java)") && command -v javac >/dev/null; then
    java_home=$(dirname "$(dirname "$java")")
    cat >"$W/Fetch.java" <<'JAVA'
import java.net.*;
public class Fetch {
    public static void main(String[] urls) throws Exception {
        for (String url : urls) {
            HttpURLConnection to = (HttpURLConnection) new URL(url).openConnection();
            System.out.print(to.getResponseCode() + " ");
        }
    }
}
JAVA
    javac -J-XX:-UsePerfData -d "$W" "$W/Fetch.java"
    door --allow '*.example.test:80' --read "$W/Fetch.class" --read "$java_home" -- \
        "$java" -cp "$W" Fetch http://api.example.test/ http://other.test/
    equal "a JVM finds the door: $(tail -n 2 "$T/err")" "200 403 " "$(output)"
else
    echo "# a JVM: none is installed"
fi
finish
