package bus

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// maxBatch is how many messages the server takes in one atomic batch.
const maxBatch = 1000

// headerRoom is what a message's headers may take of the server's
// max_payload, in bytes.
const headerRoom = 8 << 10

// minPayload is the smallest max_payload this package works with.
const minPayload = 4 * headerRoom

// stored is one message of a stream, however it was read. For a set of chunks
// that was put together, seq is the last chunk's and first the first one's.
type stored struct {
	subject string
	first   uint64
	seq     uint64
	prev    uint64 // previous message of the subject, where the way of reading tells
	pending uint64 // messages behind this one, where the way of reading tells
	time    time.Time
	header  nats.Header
	data    []byte
}

// room is how many bytes of a message's data fit one server message. It stays
// as it was when the connection was opened, so that a message that is sent
// again keeps its number of chunks.
func (b *Bus) room() int { return b.payload - headerRoom }

// parts is how many server messages n bytes take.
func (b *Bus) parts(n int) int {
	room := b.room()
	if n <= room {
		return 1
	}
	return (n + room - 1) / room
}

// checkSize refuses what MaxMessage or one atomic batch cannot hold.
func (b *Bus) checkSize(n int) error {
	if n > b.opts.MaxMessage || b.parts(n) > maxBatch {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, n, min(b.opts.MaxMessage, maxBatch*b.room()))
	}
	return nil
}

// split makes the messages of data: one, or the chunks of a set, each with
// all headers. The chunks share data's memory.
func (b *Bus) split(subj string, h nats.Header, data []byte) []*nats.Msg {
	n := b.parts(len(data))
	if n == 1 {
		return []*nats.Msg{{Subject: subj, Header: h, Data: data}}
	}
	room := b.room()
	msgs := make([]*nats.Msg, 0, n)
	for i := range n {
		ch := make(nats.Header, len(h)+4)
		for k, v := range h {
			ch[k] = v
		}
		ch[HeaderChunk] = []string{strconv.Itoa(i) + "/" + strconv.Itoa(n)}
		msgs = append(msgs, &nats.Msg{Subject: subj, Header: ch, Data: data[i*room : min((i+1)*room, len(data))]})
	}
	return msgs
}

// stampBatch makes one atomic batch of msgs: they land together, in
// consecutive sequences, or not at all.
func stampBatch(msgs []*nats.Msg) {
	id := nuid.Next()
	for i, m := range msgs {
		m.Header[natsBatchID] = []string{id}
		m.Header[natsBatchSeq] = []string{strconv.Itoa(i + 1)}
	}
	msgs[len(msgs)-1].Header[natsBatchCommit] = []string{"1"}
}

// send publishes msgs, as one atomic batch when they are several; the one
// answer goes to reply.
func (b *Bus) send(msgs []*nats.Msg, reply string) error {
	if len(msgs) > 1 {
		stampBatch(msgs)
	}
	msgs[len(msgs)-1].Reply = reply
	for _, m := range msgs {
		if err := b.nc.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// assembler puts chunk sets back together. A set lies in consecutive stream
// sequences of one subject; whatever breaks that is dropped and counted.
type assembler struct {
	head    stored
	next    int // index of the chunk that must come next; 0 = no open set
	n       int
	dropped int // chunks dropped so far
}

// add takes the next message of the stream and returns the whole message that
// ends with it. The data of a whole message is not copied.
func (a *assembler) add(m stored) (stored, bool) {
	i, n, err := chunkOf(m.header)
	if err == nil && n == 1 {
		a.drop()
		m.first = m.seq
		return m, true
	}
	if err == nil && i == 0 {
		a.drop()
		a.head, a.next, a.n = m, 1, n
		a.head.first = m.seq
		a.head.data = append(make([]byte, 0, n*len(m.data)), m.data...)
		return stored{}, false
	}
	if err != nil || a.next == 0 || i != a.next || n != a.n || m.seq != a.head.seq+1 || m.subject != a.head.subject {
		a.drop()
		a.dropped++
		return stored{}, false
	}
	a.head.seq, a.head.time, a.head.pending = m.seq, m.time, m.pending
	a.head.data = append(a.head.data, m.data...)
	a.next++
	if a.next < a.n {
		return stored{}, false
	}
	whole := a.head
	a.next = 0
	a.head = stored{}
	return whole, true
}

// drop forgets an open set.
func (a *assembler) drop() {
	if a.next > 0 {
		a.dropped += a.next
		a.next = 0
		a.head = stored{}
	}
}
