/**
 * A WebSocket class and a clock without network and time: everything happens when the test says so.
 *
 * @module
 */

/** Timers that run when the time is moved. */
export class ManualClock {
  #now = 0;
  #next = 1;
  /** @type {Map<number, {at: number, run: () => void}>} */
  #timers = new Map();

  setTimeout = (run, wait) => {
    this.#timers.set(this.#next, { at: this.#now + wait, run });
    return this.#next++;
  };

  clearTimeout = (id) => void this.#timers.delete(id);

  now = () => this.#now;

  /** How many timers wait. */
  get waiting() {
    return this.#timers.size;
  }

  /** @param {number} by milliseconds; timers run in their order at their own time */
  advance(by) {
    const until = this.#now + by;
    for (;;) {
      const due = [...this.#timers].filter(([, t]) => t.at <= until).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
      if (due === undefined) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].run();
    }
    this.#now = until;
  }
}

/**
 * @param {import('./fanout.js').FakeFanout} fanout
 * @returns {{WebSocket: any, sockets: any[], refuse: {code: number}|undefined, deliver: () => void}} WebSocket connects to fanout; messages of
 *   both directions travel as text and arrive when deliver is called, in order
 */
export function memoryNetwork(fanout) {
  const net = { sockets: [], refuse: undefined, queue: [], deliver, WebSocket: undefined };

  function deliver() {
    while (net.queue.length > 0) net.queue.shift()();
  }

  net.WebSocket = class {
    constructor(url, protocols) {
      this.url = url;
      this.protocols = protocols;
      this.closedWith = undefined;
      net.sockets.push(this);
      net.queue.push(() => this.#open());
    }

    #open() {
      if (net.refuse !== undefined) return this.serverCloses(net.refuse.code);
      this.peer = fanout.connect(
        (message) => this.#toClient(JSON.stringify(message)),
        (code) => net.queue.push(() => this.serverCloses(code)),
      );
      return undefined;
    }

    #toClient(data) {
      net.queue.push(() => {
        if (this.closedWith === undefined) this.onmessage?.({ data });
      });
    }

    /** A raw message of the server. */
    push(data) {
      this.#toClient(data);
    }

    send(data) {
      net.queue.push(() => {
        if (this.closedWith === undefined) this.peer.receive(JSON.parse(data));
      });
    }

    close(code) {
      this.closedWith ??= code;
      this.peer?.gone();
    }

    /** The connection ends; 1006 is a cut. */
    serverCloses(code) {
      if (this.closedWith !== undefined) return;
      this.closedWith = code;
      this.peer?.gone();
      this.onclose?.({ code });
    }
  };
  return net;
}
