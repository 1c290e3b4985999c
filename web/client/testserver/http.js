/**
 * FakeFanout over HTTP and WebSocket on loopback, with the page beside it: to look at the page, and to try the client on real
 * sockets. RFC 6455 as far as text messages of one frame go.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

/**
 * @param {import('./fanout.js').FakeFanout} fanout
 * @param {{port?: number, headers?: Record<string, string>}} [options] headers are sent with the page's files
 * @returns {Promise<{url: string, sockets: Set<import('node:net').Socket>, close: () => Promise<void>}>}
 */
export async function serve(fanout, { port = 0, headers = {} } = {}) {
  const sockets = new Set();
  const server = http.createServer((req, res) => {
    answer(fanout, headers, req, res).catch(() => res.writeHead(500).end());
  });
  server.on('upgrade', (req, socket) => upgrade(fanout, sockets, req, socket));
  await new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(fanout, headers, req, res) {
  const url = new URL(req.url, 'http://host');
  if (url.pathname === '/v1/threads') {
    const after = url.searchParams.get('after') ?? undefined;
    return json(res, 200, fanout.list({ limit: Number(url.searchParams.get('limit') ?? 50), after }));
  }
  const thread = /^\/v1\/threads\/([^/]+)$/.exec(url.pathname);
  if (thread !== null) {
    const found = fanout.get(decodeURIComponent(thread[1]));
    return found === undefined ? json(res, 404, { error: { code: 'not_found', message: 'no such thread' } }) : json(res, 200, found);
  }
  const file = url.pathname === '/' ? 'page/index.html' : url.pathname.slice(1);
  const full = path.join(root, file);
  const known = types[path.extname(file)];
  if (known === undefined || !full.startsWith(root) || !/^(page|client)\//.test(file)) return json(res, 404, { error: { code: 'not_found', message: '' } });
  const body = await readFile(full).catch(() => undefined);
  if (body === undefined) return json(res, 404, { error: { code: 'not_found', message: '' } });
  return res.writeHead(200, { 'Content-Type': known, ...headers }).end(body);
}

function json(res, status, value) {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

function upgrade(fanout, sockets, req, socket) {
  if (new URL(req.url, 'http://host').pathname !== '/v1/ws') return socket.destroy();
  const accept = createHash('sha1').update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: agwire.v1\r\n\r\n`,
  );
  sockets.add(socket);
  const peer = fanout.connect(
    (message) => socket.write(frame(1, Buffer.from(JSON.stringify(message)))),
    (code) => socket.end(frame(8, closeBody(code))),
  );
  let buffered = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (let next = readFrame(buffered); next !== undefined; next = readFrame(buffered)) {
      buffered = buffered.subarray(next.size);
      if (next.opcode === 1) peer.receive(JSON.parse(next.payload.toString()));
      else if (next.opcode === 9) socket.write(frame(10, next.payload));
      else if (next.opcode === 8) socket.end(frame(8, next.payload.subarray(0, 2)));
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    sockets.delete(socket);
    peer.gone();
  });
  return undefined;
}

function closeBody(code) {
  const body = Buffer.alloc(2);
  body.writeUInt16BE(code);
  return body;
}

function frame(opcode, payload) {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (payload.length < 126) {
    head[1] = payload.length;
  } else if (payload.length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, payload]);
}

/** The first whole masked frame of what has arrived; nothing while it has not. */
function readFrame(data) {
  if (data.length < 6) return undefined;
  let length = data[1] & 0x7f;
  let at = 2;
  if (length === 126) {
    if (data.length < 8) return undefined;
    length = data.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (data.length < 14) return undefined;
    length = Number(data.readBigUInt64BE(2));
    at = 10;
  }
  if (data.length < at + 4 + length) return undefined;
  const mask = data.subarray(at, at + 4);
  const payload = Buffer.from(data.subarray(at + 4, at + 4 + length)).map((byte, i) => byte ^ mask[i % 4]);
  return { opcode: data[0] & 0xf, payload, size: at + 4 + length };
}
