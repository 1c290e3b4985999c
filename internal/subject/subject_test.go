package subject_test

import (
	"errors"
	"hash/fnv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agwire/agwire/internal/subject"
)

func names(t testing.TB, shards int) subject.Names {
	t.Helper()
	n, err := subject.New("agw", shards)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ids() *rapid.Generator[string] {
	hostile := rapid.SampledFrom([]string{".", "*", ">", "%", " ", "$", "\x00", "\n", "\x7f", "%2E", "é", "你", "🦀", "a", "7", "-", "_", "/", "~"})
	return rapid.OneOf(
		rapid.StringN(1, 40, subject.MaxID),
		rapid.Map(rapid.SliceOfN(hostile, 1, 40), func(p []string) string { return strings.Join(p, "") }),
	)
}

func TestNamesAreSpeltSo(t *testing.T) {
	n := names(t, 64)
	for _, c := range []struct{ got, want string }{
		{n.Frames("t1", "run.1"), "agw.f.22.t1.run%2E1"},
		{n.Inputs("t1"), "agw.i.22.t1"},
		{n.Events("t1"), "agw.e.22.t1"},
		{n.Live("t1"), "agw.live.22.t1"},
		{n.Events("team 7/run.1"), "agw.e.5.team%207/run%2E1"},
		{n.Claim(3), "agw.c.3.claim"},
		{n.Filler(3), "agw.c.3.filler"},
		{n.Checkpoint(3), "agw.c.3.checkpoint"},
		{n.FramesFilter(3), "agw.f.3.>"},
		{n.InputsFilter(3), "agw.i.3.>"},
		{n.EventsFilter(3), "agw.e.3.>"},
		{n.LiveFilter(3), "agw.live.3.>"},
		{n.ControlFilter(3), "agw.c.3.>"},
		{n.FramesStream(3), "AGW_FRAMES_3"},
		{n.EventsStream(3), "AGW_EVENTS_3"},
		{n.OwnersBucket(), "AGW_OWNERS"},
		{n.OwnersStream(), "KV_AGW_OWNERS"},
		{n.OwnerKey("normalize", "host.1"), "normalize.host=2E1"},
		{n.OwnerKeys("normalize"), "normalize.*"},
		{n.OwnerSubject("g.w"), "$KV.AGW_OWNERS.g.w"},
		{subject.Escape("$JS.x"), "%24JS%2Ex"},
		{subject.Escape("a$"), "a$"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestEscapeIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(ids(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		tok := subject.Escape(s)
		if strings.ContainsAny(tok, ".*> \t\r\n\x00") || strings.HasPrefix(tok, "$") {
			t.Fatalf("%q is no token", tok)
		}
		back, err := subject.Unescape(tok)
		if err != nil || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
	})
}

func TestUnescapeTakesOneSpellingOnly(t *testing.T) {
	for _, tok := range []string{"%", "%2", "a%2", "%2e", "%41", "%ZZ", "a.b", "a b", "$x", "x%2Ey.z", "%24%"} {
		if s, err := subject.Unescape(tok); err == nil {
			t.Errorf("%q was read as %q", tok, s)
		}
	}
}

func TestParseReversesNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := names(nopTB{}, rapid.IntRange(subject.MinShards, subject.MaxShards).Draw(t, "shards"))
		thread, invoke := ids().Draw(t, "thread"), ids().Draw(t, "invoke")
		if subject.CheckID(thread) != nil || subject.CheckID(invoke) != nil {
			t.Skip("not ids")
		}
		shard := n.Shard(thread)
		for s, want := range map[string]subject.Parsed{
			n.Frames(thread, invoke): {Kind: subject.KindFrame, Shard: shard, Thread: thread, Invoke: invoke},
			n.Inputs(thread):         {Kind: subject.KindInput, Shard: shard, Thread: thread},
			n.Events(thread):         {Kind: subject.KindEvent, Shard: shard, Thread: thread},
			n.Live(thread):           {Kind: subject.KindLive, Shard: shard, Thread: thread},
			n.Claim(shard):           {Kind: subject.KindClaim, Shard: shard},
			n.Filler(shard):          {Kind: subject.KindFiller, Shard: shard},
			n.Checkpoint(shard):      {Kind: subject.KindCheckpoint, Shard: shard},
		} {
			got, err := n.Parse(s)
			if err != nil || got != want {
				t.Fatalf("%q parsed as %+v, %v", s, got, err)
			}
		}
	})
}

func TestParseRefusesForeignSubjects(t *testing.T) {
	n := names(t, 64)
	for _, s := range []string{
		"", "agw", "agw.", "agw.e", "agw.e.41", "agw.e.22.", "agw.e.40.t1", "agw.e.022.t1", "agw.e.-1.t1", "agw.e.64.t1",
		"agw.e.x.t1", "agw.e.22.t1.x", "agw.f.22.t1", "agw.f.22.t1.", "agw.f.22.t1.a.b", "agw.c.3.claim.x", "agw.c.3.x",
		"agw.x.22.t1", "other.e.22.t1", "agwe.22.t1", "agw.e.22.%74%31",
	} {
		if p, err := n.Parse(s); !errors.Is(err, subject.ErrForeign) {
			t.Errorf("%q parsed as %+v, %v", s, p, err)
		}
	}
}

func TestShardIsFNV1a(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ids().Draw(t, "thread")
		shards := rapid.IntRange(1, subject.MaxShards).Draw(t, "shards")
		h := fnv.New32a()
		_, _ = h.Write([]byte(subject.Escape(s)))
		if got, want := names(nopTB{}, shards).Shard(s), int(h.Sum32()%uint32(shards)); got != want {
			t.Fatalf("shard %d, want %d", got, want)
		}
	})
}

func TestCheckID(t *testing.T) {
	for id, good := range map[string]bool{
		"": false, "a": true, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false, "\xff": false, "a\x00b": true, "🦀": true,
	} {
		if err := subject.CheckID(id); (err == nil) != good || err != nil && !errors.Is(err, subject.ErrID) {
			t.Errorf("%d bytes: %v", len(id), err)
		}
	}
}

func TestNewNamesEveryBadArgument(t *testing.T) {
	for _, c := range []struct {
		prefix string
		shards int
		want   []string
	}{
		{"", 0, []string{"prefix", "shards"}},
		{"A", 1, []string{"prefix"}},
		{"a.b", 1025, []string{"prefix", "shards"}},
		{"1a", 1, []string{"prefix"}},
		{strings.Repeat("a", 33), 1, []string{"prefix"}},
	} {
		_, err := subject.New(c.prefix, c.shards)
		if err == nil {
			t.Fatalf("%q, %d was taken", c.prefix, c.shards)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v does not name %s", err, w)
			}
		}
	}
}

func FuzzUnescape(f *testing.F) {
	for _, s := range []string{"a", "%2E", "a%20b", "%", "$", "%24", "\xff", "%FF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, tok string) {
		s, err := subject.Unescape(tok)
		if err == nil && subject.Escape(s) != tok {
			t.Fatalf("%q is read as %q, which is written %q", tok, s, subject.Escape(s))
		}
		if back, err := subject.Unescape(subject.Escape(tok)); err != nil || back != tok {
			t.Fatalf("%q came back as %q, %v", tok, back, err)
		}
	})
}

// nopTB lets a helper for testing.TB serve inside rapid, where a bad
// argument is a bug of the test itself.
type nopTB struct{ testing.TB }

func (nopTB) Helper()           {}
func (nopTB) Fatal(args ...any) { panic(args) }
