package bus_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/bus"
	"github.com/agwire/agwire/internal/subject"
)

// TestHeadersGoRound: what a header is written from is read from it.
func TestHeadersGoRound(t *testing.T) {
	n, err := subject.New("agw", 4)
	ok(t, err)
	id := rapid.StringN(0, 20, 60)
	name := rapid.OneOf(id, rapid.SampledFrom([]string{"a\r\nB: c", " x ", "%", "", "你好🦀"}))
	rapid.Check(t, func(t *rapid.T) {
		h := bus.EventHeader{
			Thread: "t", Epoch: bus.Epoch{Incarnation: rapid.Int64Min(1).Draw(t, "inc"), Seq: rapid.Uint64Min(1).Draw(t, "epoch")},
			First: rapid.Int64Min(0).Draw(t, "first"), Count: rapid.Int64Range(0, 9).Draw(t, "count"), Frame: -1,
			FrameSeq: rapid.Uint64().Draw(t, "frame seq"), Term: rapid.Uint64().Draw(t, "term"),
		}
		if h.Invoke = name.Draw(t, "invoke"); h.Invoke != "" {
			h.Frame, h.Next = rapid.Int64Min(-1).Draw(t, "frame"), rapid.Int64Min(0).Draw(t, "next")
			h.Opened, h.Digest = rapid.Uint64().Draw(t, "opened"), name.Draw(t, "digest")
			h.Closed = rapid.Bool().Draw(t, "closed")
		}
		if m := bus.DecodeEvent(n, n.Events("t"), wire(t, bus.EncodeEvent(h)), nil); m.Err != nil || m.EventHeader != h {
			t.Fatalf("%+v\ncame back as %+v, %v", h, m.EventHeader, m.Err)
		}
		f := bus.Frame{Thread: "t", Invoke: "i", Index: rapid.Int64Range(0, 2).Draw(t, "index")}
		if f.Index == 0 {
			f.Start = bus.InvokeStart{Source: name.Draw(t, "source"), Turn: name.Draw(t, "turn"), Mapper: name.Draw(t, "mapper"), Trace: name.Draw(t, "trace")}
		}
		if rapid.Bool().Draw(t, "end") {
			f.Kind = bus.KindEnd
			f.End = bus.End{Reason: rapid.SampledFrom([]bus.EndReason{bus.EndDone, bus.EndIdle}).Draw(t, "reason"), Exit: int(rapid.Int32().Draw(t, "exit"))}
		}
		got := bus.DecodeFrame(n, n.Frames("t", "i"), wire(t, bus.EncodeFrame(f)), nil)
		if got.Err != nil || got.Start != f.Start || got.End != f.End || got.Index != f.Index || got.Kind != f.Kind {
			t.Fatalf("%+v\ncame back as %+v", f, got)
		}
	})
}

// wire passes headers through their bytes.
func wire(t *rapid.T, h nats.Header) nats.Header {
	var b bytes.Buffer
	b.WriteString("NATS/1.0\r\n")
	for k, vs := range h {
		for _, v := range vs {
			b.WriteString(k + ": " + v + "\r\n")
		}
	}
	b.WriteString("\r\n")
	out, err := nats.DecodeHeadersMsg(b.Bytes())
	if err != nil {
		t.Fatalf("%v in %q", err, b.String())
	}
	return out
}

// FuzzDecode: hostile subjects and headers never panic, and what is refused is
// refused as poison.
func FuzzDecode(f *testing.F) {
	n, err := subject.New("agw", 4)
	ok(f, err)
	keys := []string{
		bus.HeaderKind, bus.HeaderIndex, bus.HeaderFloor, bus.HeaderSource, bus.HeaderEnd, bus.HeaderExit, bus.HeaderChunk,
		bus.HeaderEpoch, bus.HeaderFirst, bus.HeaderCount, bus.HeaderInvoke, bus.HeaderFrame, bus.HeaderNext, bus.HeaderDigest,
	}
	f.Add("agw.e.0.t", uint16(1<<7|1<<8|1<<9), "a.b", "0")
	f.Add("agw.f.0.t.i", uint16(2), "0", "1:2")
	f.Add(n.Frames("t", "i"), uint16(7), "end", "9223372036854775808")
	f.Fuzz(func(t *testing.T, subj string, mask uint16, a, b string) {
		h := nats.Header{}
		for i, k := range keys {
			if mask&(1<<i) != 0 {
				h[k] = []string{[]string{a, b}[i%2]}
			}
		}
		if m := bus.DecodeEvent(n, subj, h, nil); m.Err != nil && !errors.Is(m.Err, bus.ErrPoison) {
			t.Fatal(m.Err)
		}
		if m := bus.DecodeFrame(n, subj, h, nil); m.Err != nil && !errors.Is(m.Err, bus.ErrPoison) {
			t.Fatal(m.Err)
		}
	})
}

func TestChunksOfOneSetOnly(t *testing.T) {
	type msg = struct {
		Seq   uint64
		Chunk string
	}
	for name, c := range map[string]struct {
		msgs    []msg
		whole   []uint64
		dropped int
	}{
		"one set":          {[]msg{{1, "0/3"}, {2, "1/3"}, {3, "2/3"}}, []uint64{3}, 0},
		"a hole in seq":    {[]msg{{1, "0/2"}, {3, "1/2"}, {4, ""}}, []uint64{4}, 2},
		"no head":          {[]msg{{1, "1/2"}, {2, "0/2"}, {3, "1/2"}}, []uint64{3}, 1},
		"cut short":        {[]msg{{1, "0/3"}, {2, "1/3"}, {3, ""}}, []uint64{3}, 2},
		"another size":     {[]msg{{1, "0/3"}, {2, "1/2"}, {3, "2/3"}}, nil, 3},
		"head again":       {[]msg{{1, "0/2"}, {2, "0/2"}, {3, "1/2"}}, []uint64{3}, 1},
		"a chunk twice":    {[]msg{{1, "0/3"}, {2, "1/3"}, {3, "1/3"}, {4, "2/3"}}, nil, 4},
		"no chunk header":  {[]msg{{1, "0/2"}, {2, "x"}, {3, "1/2"}}, nil, 3},
		"beyond its set":   {[]msg{{1, "2/2"}, {2, "0/1"}, {3, "-1/2"}}, nil, 3},
		"larger than sets": {[]msg{{1, "0/1001"}}, nil, 1},
	} {
		if whole, dropped := bus.Assemble(c.msgs); !slices.Equal(whole, c.whole) || dropped != c.dropped {
			t.Errorf("%s: %v, %d dropped", name, whole, dropped)
		}
	}
}
