package reducer_test

import (
	"bytes"
	"testing"

	"github.com/agwire/agwire/pkg/agjson/reducer"
)

// TestExport exports and imports the structure after every third event of every stream; the import exports to the same bytes and
// judges the rest of the stream as the original does.
func TestExport(t *testing.T) {
	for _, s := range streams(t) {
		one := reducer.NewStructure()
		for k := range s.events {
			if one.Apply(&s.events[k]); k%3 != 0 {
				continue
			}
			data := one.Export(nil)
			two, err := reducer.ImportStructure(data)
			if err != nil {
				t.Fatalf("%s after %d: %v", s.name, k, err)
			}
			if !bytes.Equal(two.Export(nil), data) {
				t.Fatalf("%s after %d: the import exports to other bytes", s.name, k)
			}
			if k%21 != 0 && k != len(s.events)/2 {
				continue
			}
			three, err := reducer.ImportStructure(data)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.events[k+1:] {
				ev := &s.events[k+1+i]
				if a, b := two.Admit(ev), three.Admit(ev); a != b {
					t.Fatalf("%s imported after %d: judges %d %q and %q", s.name, k, k+1+i, a, b)
				}
				three.Apply(ev)
				two.Apply(ev)
			}
			whole := reducer.Fold(s.events)
			if two.Parked() != whole.Parked() || two.Seq() != whole.Seq() {
				t.Fatalf("%s imported after %d: ends parked %q at %d, the fold %q at %d", s.name, k, two.Parked(), two.Seq(), whole.Parked(), whole.Seq())
			}
		}
	}
}

// TestAdmit: what a Structure refuses parks a Reducer, and nothing else does (SPEC §5 INV-SEQ).
func TestAdmit(t *testing.T) {
	for _, s := range streams(t) {
		structure, r := reducer.NewStructure(), reducer.New()
		for k := range s.events {
			ev := s.events[k]
			before := structure.Export(nil)
			why := structure.Admit(&ev)
			if !bytes.Equal(structure.Export(nil), before) {
				t.Fatalf("%s: Admit of %d changed the structure", s.name, k)
			}
			structure.Apply(&ev)
			r.Push(ev)
			if (why == "") != (r.Parked() == "") || structure.Parked() != r.Parked() {
				t.Fatalf("%s: %d is admitted %q, parks %q and %q", s.name, k, why, structure.Parked(), r.Parked())
			}
		}
	}
}

func FuzzImportStructure(f *testing.F) {
	s := reducer.NewStructure()
	for _, ev := range streams(f)[0].events {
		s.Apply(&ev)
		f.Add(s.Export(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := reducer.ImportStructure(data)
		if err != nil {
			return
		}
		again, err := reducer.ImportStructure(s.Export(nil))
		if err != nil {
			t.Fatalf("the export of an import is refused: %v", err)
		}
		if !bytes.Equal(again.Export(nil), s.Export(nil)) {
			t.Fatal("an import exports to other bytes twice")
		}
		for _, ev := range streams(t)[0].events {
			s.Apply(&ev)
		}
	})
}
