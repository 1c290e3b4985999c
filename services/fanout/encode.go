package fanout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/pkg/agjson"
)

// wire is how messages look on a connection.
type wire uint8

const (
	webSocket   wire = iota // frames of text messages
	eventStream             // text/event-stream
	wires
)

func (w wire) String() string {
	if w == webSocket {
		return "websocket"
	}
	return "sse"
}

// subprotocol is the WebSocket sub-protocol.
const subprotocol = "agwire.v1"

// Reasons of a reset.
const (
	reasonJoin    = "join"
	reasonGap     = "gap"
	reasonTrimmed = "trimmed"
	reasonEpoch   = "epoch"
	reasonSlow    = "slow"
)

// frameRoom is what the header of a frame may take.
const frameRoom = 10

// startFrame is a buffer for a text message of about size bytes.
func startFrame(size int) []byte { return make([]byte, frameRoom, frameRoom+size) }

// endFrame puts the header before what was appended to startFrame's buffer: one whole, unmasked frame of a text message.
func endFrame(buf []byte) []byte {
	const finText = 0x81
	switch n := len(buf) - frameRoom; {
	case n < 126:
		buf = buf[frameRoom-2:]
		buf[1] = byte(n)
	case n <= 0xffff:
		buf = buf[frameRoom-4:]
		buf[1] = 126
		binary.BigEndian.PutUint16(buf[2:], uint16(n))
	default:
		buf = buf[frameRoom-10:]
		buf[1] = 127
		binary.BigEndian.PutUint64(buf[2:], uint64(n))
	}
	buf[0] = finText
	return buf
}

// pingFrame asks a WebSocket client for a sign of life; pongFrame answers one.
func pingFrame() []byte { return []byte{0x89, 0} }

func pongFrame(payload []byte) []byte { return append([]byte{0x8a, byte(len(payload))}, payload...) }

// cursorText is how a cursor is written; "" before the first event of a thread.
func cursorText(c bus.Cursor) string {
	if c.Epoch.IsZero() || c.Ordinal < 0 {
		return ""
	}
	return c.String()
}

// eventID is the cursor as an id of Server-Sent Events. Before the first event it is the place to start at.
func eventID(c bus.Cursor) string {
	if t := cursorText(c); t != "" {
		return t
	}
	return fromStart
}

// name is a thread as messages spell it.
func name(thread string) []byte { return agjson.AppendString(nil, thread) }

// encodeEvents is a message of events: list appends the JSON list of them, about size bytes.
func (w wire) encodeEvents(name []byte, at bus.Cursor, pair bool, size int, list func([]byte) []byte) []byte {
	var b []byte
	if w == webSocket {
		b = append(startFrame(len(name)+size+96), `{"op":"events","thread":`...)
		b = append(append(b, name...), `,"cursor":"`...)
		b = append(append(b, cursorText(at)...), '"', ',')
	} else {
		b = append(make([]byte, 0, size+96), "id: "...)
		b = append(append(b, eventID(at)...), "\nevent: events\ndata: {"...)
	}
	if pair {
		b = append(b, `"pair":true,`...)
	}
	b = append(b, `"events":`...)
	from := len(b)
	b = list(b)
	if w == webSocket {
		return endFrame(append(b, '}'))
	}
	oneLine(b[from:])
	return append(b, "}\n\n"...)
}

// oneLine makes one line of a JSON text: there, line breaks are but space between values.
func oneLine(b []byte) {
	for _, c := range []byte("\n\r") {
		for at := 0; ; {
			i := bytes.IndexByte(b[at:], c)
			if i < 0 {
				break
			}
			at += i
			b[at] = ' '
		}
	}
}

// encodeReset is a reset.
func (w wire) encodeReset(name []byte, reason string) []byte {
	if w == webSocket {
		b := append(startFrame(len(name)+64), `{"op":"reset","thread":`...)
		return endFrame(append(append(append(append(b, name...), `,"reason":"`...), reason...), `"}`...))
	}
	return []byte("event: reset\ndata: {\"reason\":\"" + reason + "\"}\n\n")
}

// encodeError refuses a thread. On an event stream it is the last message.
func (w wire) encodeError(thread, code, message string) []byte {
	v := struct {
		Op      string `json:"op,omitempty"`
		Thread  string `json:"thread,omitempty"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}{Code: code, Message: message}
	if w == webSocket {
		v.Op, v.Thread = "error", thread
	}
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(`{"op":"error","code":"internal","message":"the answer cannot be written"}`)
	}
	if w == webSocket {
		return endFrame(append(startFrame(len(text)), text...))
	}
	return append(append([]byte("event: error\ndata: "), text...), "\n\n"...)
}

// encodeAnswer answers a request of a WebSocket client about a thread; at is nil where there is no cursor to tell.
func encodeAnswer(op string, name []byte, at *bus.Cursor) []byte {
	b := append(startFrame(len(name)+96), `{"op":"`...)
	b = append(append(b, op...), `","thread":`...)
	b = append(b, name...)
	if at != nil {
		b = append(append(append(b, `,"cursor":"`...), cursorText(*at)...), '"')
	}
	return endFrame(append(b, '}'))
}

// encodePrime is an empty batch that tells an event stream where it begins.
func encodePrime(at bus.Cursor) []byte {
	return eventStream.encodeEvents(nil, at, false, 2, func(b []byte) []byte { return append(b, "[]"...) })
}

func encodeHello(heartbeat float64) []byte {
	b := append(startFrame(64), `{"op":"hello","protocol":"`+subprotocol+`","heartbeat":`...)
	return endFrame(append(strconv.AppendFloat(b, heartbeat, 'f', -1, 64), '}'))
}

func encodePong() []byte { return endFrame(append(startFrame(16), `{"op":"pong"}`...)) }

// head is what a heartbeat says of a thread.
type head struct {
	name []byte
	at   bus.Cursor
	open bool
}

// encodeHeartbeat is a heartbeat; on an event stream there is one head.
func (w wire) encodeHeartbeat(heads []head) []byte {
	if w == eventStream {
		b := []byte("event: heartbeat\ndata: {")
		for _, h := range heads {
			b = appendHead(b, h)
		}
		return append(b, "}\n\n"...)
	}
	b := append(startFrame(64+96*len(heads)), `{"op":"heartbeat","heads":{`...)
	for i, h := range heads {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, h.name...), ':', '{')
		b = append(appendHead(b, h), '}')
	}
	return endFrame(append(b, '}', '}'))
}

func appendHead(b []byte, h head) []byte {
	b = append(append(b, `"cursor":"`...), cursorText(h.at)...)
	return strconv.AppendBool(append(b, `","open":`...), h.open)
}
