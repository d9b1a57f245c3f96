// model.mjs - a model server on loopback for tests of real agents: OpenAI Responses and Chat Completions,
// Anthropic Messages, Gemini.  It calls the shell tool that it is offered once, to write a file, and then
// says DONE.  Node alone, no packages.
//
// Environment: PORT; LOGF, a line of JSON a request; ARTE, the absolute path of the file to write; SHCMD,
// the shell command, if another than that; TURNS, how many calls of the tool before DONE (1).
import fs from 'node:fs';
import http from 'node:http';

const { PORT = '0', LOGF = 'model.log', ARTE = 'artefact.txt', TURNS = '1' } = process.env;
const command = process.env.SHCMD || `echo made-by-agent > ${ARTE}`;
const turns = Number(TURNS);
const now = () => Math.floor(Date.now() / 1000);

function log(entry) {
  fs.appendFileSync(LOGF, JSON.stringify({ t: Date.now(), ...entry }) + '\n');
}

function answer(response, body, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return {
    named: (type, body) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`),
    data: (body) => response.write(`data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`),
    end: () => response.end(),
  };
}

// What the shell tools of the agents are called, and what they want to be given.
const shells = {
  exec_command: { cmd: command }, // codex
  shell_command: { command }, // codex
  local_shell: { command: ['bash', '-lc', command] }, // codex, older
  shell: { command: ['bash', '-lc', command] },
  Bash: { command, description: 'write the artefact' }, // claude-code
  Execute: { command, riskLevelReason: 'a file', riskLevel: 'low', summary: 'write' }, // droid
  run_shell_command: { command, description: 'write the artefact', is_background: false }, // qwen-code, gemini-cli
  bash: { command, description: 'write the artefact', initial_wait: 10, mode: 'sync', sessionId: 's1' }, // opencode, copilot
};

// The call to make now, or undefined: the turn is over.
function next(api, request, tools, results) {
  log({ api, model: request.model, tools, outs: results });
  const name = results.length < turns && Object.keys(shells).find((shell) => tools.includes(shell));
  return name ? { name, args: shells[name], id: `call_${results.length + 1}` } : undefined;
}

function responses(response, request) {
  const input = Array.isArray(request.input) ? request.input : [];
  const results = input.filter((item) => /_output$/.test(item.type || '')).map((item) => item.output);
  const call = next('responses', request, (request.tools || []).map((tool) => tool.name || tool.type), results);
  const id = `resp_${Date.now()}`;
  const out = stream(response);
  const item = call
    ? { type: 'function_call', id: 'fc_1', call_id: call.id, name: call.name, arguments: JSON.stringify(call.args) }
    : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'DONE' }] };
  const usage = {
    input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, total_tokens: 2,
    output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 },
  };
  out.named('response.created', { response: { id } });
  out.named('response.output_item.added', { output_index: 0, item: call ? item : { ...item, content: [] } });
  if (!call)
    out.named('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'DONE' });
  out.named('response.output_item.done', { output_index: 0, item });
  out.named('response.completed', { response: { id, output: [item], usage } });
  out.end();
}

function chat(response, request) {
  const results = (request.messages || []).filter((message) => message.role === 'tool').map((message) => message.content);
  const call = next('chat', request, (request.tools || []).map((tool) => tool.function?.name), results);
  const base = { id: `c${Date.now()}`, created: now(), model: request.model };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const reason = call ? 'tool_calls' : 'stop';
  const calls = call && [
    { index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } },
  ];
  const content = request.response_format ? '{"ok":true}' : 'DONE';
  const said = call ? { tool_calls: calls } : { content };
  if (!request.stream) {
    const message = { role: 'assistant', content: null, ...said };
    answer(response, { ...base, object: 'chat.completion', usage, choices: [{ index: 0, finish_reason: reason, message }] });
    return;
  }
  const out = stream(response);
  const chunk = (delta, finish_reason, more = {}) =>
    out.data({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more });
  chunk({ role: 'assistant', content: '' }, null);
  chunk(said, null);
  chunk({}, reason, { usage });
  out.data('[DONE]');
  out.end();
}

function anthropic(response, request) {
  const results = (request.messages || [])
    .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .filter((content) => content.type === 'tool_result')
    .map((content) => content.content);
  const call = next('anthropic', request, (request.tools || []).map((tool) => tool.name), results);
  const base = { id: `msg_${Date.now()}`, type: 'message', role: 'assistant', model: request.model, stop_sequence: null };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const block = call ? { type: 'tool_use', id: `toolu_${call.id}`, name: call.name, input: call.args } : { type: 'text', text: 'DONE' };
  if (!request.stream) {
    answer(response, { ...base, content: [block], stop_reason, usage });
    return;
  }
  const out = stream(response);
  const empty = call ? { ...block, input: {} } : { ...block, text: '' };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
    : { type: 'text_delta', text: 'DONE' };
  out.named('message_start', { message: { ...base, content: [], stop_reason: null, usage } });
  out.named('content_block_start', { index: 0, content_block: empty });
  out.named('content_block_delta', { index: 0, delta });
  out.named('content_block_stop', { index: 0 });
  out.named('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  out.named('message_stop', {});
  out.end();
}

// gemini-cli also asks for judgements in JSON; one answer serves all of them.
const judgement = JSON.stringify({
  complexity_reasoning: 'x', complexity_score: 10, reasoning: 'x', model_choice: 'flash', next_speaker: 'user',
});

function gemini(response, request, url) {
  const results = (request.contents || [])
    .flatMap((content) => content.parts || [])
    .filter((part) => part.functionResponse)
    .map((part) => part.functionResponse);
  const tools = (request.tools || []).flatMap((tool) => tool.functionDeclarations || []).map((tool) => tool.name);
  const call = next('gemini', request, tools, results);
  const text = request.generationConfig?.responseMimeType === 'application/json' ? judgement : 'DONE';
  const part = call ? { functionCall: { id: call.id, name: call.name, args: call.args }, thoughtSignature: 'c2ln' } : { text };
  const body = {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'mock',
  };
  if (!/streamGenerateContent/.test(url)) {
    answer(response, body);
    return;
  }
  const out = stream(response);
  out.data(body);
  out.end();
}

function route(request, response, body) {
  const url = request.url;
  if (request.method === 'POST' && /\/responses(\?|$)/.test(url)) responses(response, body);
  else if (/\/chat\/completions(\?|$)/.test(url)) chat(response, body);
  else if (/count_tokens/.test(url)) answer(response, { input_tokens: 1 });
  else if (/\/messages(\?|$)/.test(url)) anthropic(response, body);
  else if (/[gG]enerateContent/.test(url)) gemini(response, body, url);
  else if (/countTokens/.test(url)) answer(response, { totalTokens: 1 });
  else if (/\/models(\?|$)/.test(url))
    answer(response, { object: 'list', data: [{ id: 'mock', object: 'model' }], models: [] });
  else answer(response, { error: { message: `no route ${url}` } }, 404);
}

http
  .createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      let body = {};
      log({ req: `${request.method} ${request.url}` });
      try {
        body = JSON.parse(Buffer.concat(parts).toString()) || {};
      } catch {
        // A request without a body of JSON is answered by its path alone.
      }
      route(request, response, body);
    });
  })
  .listen(Number(PORT), '127.0.0.1');
