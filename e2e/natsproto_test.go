package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// natsConn speaks as much of the NATS client protocol as a request and its reply take.
type natsConn struct {
	conn net.Conn
	r    *bufio.Reader
}

// dialNATS connects to a server; the connection ends with the test.
func dialNATS(t testing.TB, addr string) *natsConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &natsConn{conn, bufio.NewReader(conn)}
	if line, err := c.r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "INFO ") {
		t.Fatalf("the server greets with %q: %v", line, err)
	}
	if err := c.send("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := c.r.ReadString('\n'); err != nil || line != "PONG\r\n" {
		t.Fatalf("the server answers %q: %v", line, err)
	}
	return c
}

func (c *natsConn) send(text string) error {
	_, err := io.WriteString(c.conn, text)
	return err
}

// next is the reply subject and the body of the next message.
func (c *natsConn) next() (reply string, body []byte, err error) {
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		f := strings.Fields(line)
		switch {
		case len(f) == 1 && f[0] == "PING":
			if err := c.send("PONG\r\n"); err != nil {
				return "", nil, err
			}
		case len(f) >= 4 && f[0] == "MSG":
			n, err := strconv.Atoi(f[len(f)-1])
			if err != nil {
				return "", nil, err
			}
			body = make([]byte, n+2)
			if _, err := io.ReadFull(c.r, body); err != nil {
				return "", nil, err
			}
			if len(f) == 5 {
				reply = f[3]
			}
			return reply, body[:n], nil
		case len(f) > 0 && f[0] == "-ERR":
			return "", nil, fmt.Errorf("the server says %s", strings.TrimSpace(line))
		}
	}
}

// requester is a connection whose requests another connection to the same server answers.
func requester(t testing.TB, addr string) *natsConn {
	t.Helper()
	client, service := dialNATS(t, addr), dialNATS(t, addr)
	for c, subject := range map[*natsConn]string{client: "e2e.reply", service: "e2e.ask"} {
		if err := c.send("SUB " + subject + " 1\r\nPING\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := c.r.ReadString('\n'); err != nil || line != "PONG\r\n" {
			t.Fatalf("the server answers %q: %v", line, err)
		}
	}
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			reply, body, err := service.next()
			if err != nil {
				return
			}
			if err := service.send(fmt.Sprintf("PUB %s %d\r\n%s\r\n", reply, len(body), body)); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		service.conn.Close()
		answering.Wait()
	})
	return client
}

// request asks and waits for the answer.
func (c *natsConn) request(body []byte) error {
	if err := c.send(fmt.Sprintf("PUB e2e.ask e2e.reply %d\r\n%s\r\n", len(body), body)); err != nil {
		return err
	}
	_, _, err := c.next()
	return err
}
