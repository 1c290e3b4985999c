package fanout

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Close codes; the range says whether to come back (docs/protocol.md).
const (
	closeNormal    = 1000
	closeGoingAway = 1001
	closeDraining  = 4000
	closeSlow      = 4001
	closeSilent    = 4002
	closeMalformed = 4400
	closeForbidden = 4401
	closeTooMany   = 4408
	closeTooLarge  = 4409
)

// Bounds of one write to a socket.
const (
	pieceSize = 64 << 10 // what must be taken within Config.Stuck
	readSize  = 1 << 10  // buffer of what a client sends
	writeSize = 256      // buffer of the library's own frames, which are small
)

// socket is a WebSocket as it is written to: whole frames, beside the library that reads it, and answers closes.
type socket struct {
	net.Conn
	conn  *websocket.Conn // set once it is accepted
	read  []byte          // came before the connection was taken over
	stuck time.Duration
	slow  func() // called when a write makes no progress for stuck; it has as long again to end

	mu sync.Mutex // one frame at a time
}

// Read reads what came with the request first.
func (k *socket) Read(p []byte) (int, error) {
	if len(k.read) > 0 {
		n := copy(p, k.read)
		k.read = k.read[n:]
		return n, nil
	}
	return k.Conn.Read(p)
}

// Write writes whole frames. It may be called by several goroutines.
func (k *socket) Write(p []byte) (n int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for warned := false; n < len(p); {
		piece := p[n:min(n+pieceSize, len(p))]
		if err := k.SetWriteDeadline(time.Now().Add(k.stuck)); err != nil {
			return n, err
		}
		w, err := k.Conn.Write(piece)
		n += w
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && !warned:
			warned = true
			k.slow()
		default:
			return n, err
		}
	}
	return n, nil
}

func (k *socket) send(p []byte) error {
	_, err := k.Write(p)
	return err
}

// end is the close handshake; a client that does not answer is cut after some seconds.
func (k *socket) end(code int, reason string) { _ = k.conn.Close(websocket.StatusCode(code), reason) }

func (k *socket) cut() { _ = k.Close() }

// takeover gives the library a connection that is written to through a socket, and with smaller buffers than the server's.
type takeover struct {
	http.ResponseWriter
	socket *socket
	buffer int // of the kernel for what is unread; 0 = its choice
}

// Hijack takes the connection over.
func (t *takeover) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	k := t.socket
	k.Conn = conn
	if n := rw.Reader.Buffered(); n > 0 {
		k.read = make([]byte, n)
		if _, err := rw.Reader.Read(k.read); err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
	}
	if tcp, ok := conn.(*net.TCPConn); ok && t.buffer > 0 {
		if err := tcp.SetWriteBuffer(t.buffer); err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
	}
	return k, bufio.NewReadWriter(bufio.NewReaderSize(k, readSize), bufio.NewWriterSize(k, writeSize)), nil
}
