/**
 * Serves the page with made-up threads, some of them live: `node web/client/testserver/main.js [port]`.
 *
 * @module
 */

import { FakeFanout } from './fanout.js';
import { serve } from './http.js';
import { delegatingTurn, hostileTurn, longThread, weatherTurn } from './scenes.js';

const policy =
  "default-src 'self'; img-src 'self' data:; media-src data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agwire-sandbox";
const fanout = new FakeFanout({ heartbeat: 5 });
fanout.append('long', ...longThread(500));
fanout.append('hostile', ...hostileTurn(1));
fanout.append('paused', ...delegatingTurn(1));
fanout.append('finished', ...weatherTurn(1));

let n = 1;
let queue = weatherTurn(n);
const beat = setInterval(() => fanout.beat(), 5_000);
const talk = setInterval(() => {
  if (queue.length === 0) queue = [weatherTurn, delegatingTurn, hostileTurn][++n % 3](n);
  fanout.append('live', queue.shift());
}, 60);
const { url, close } = await serve(fanout, { port: Number(process.argv[2] ?? 8099), headers: { 'Content-Security-Policy': policy } });
console.log(url);
process.on('SIGTERM', () => {
  clearInterval(beat);
  clearInterval(talk);
  close();
});
