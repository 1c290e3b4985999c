package jsonpatch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// wide is a document of n small objects in one array, and a number beside it.
func wide(n int) string {
	var text strings.Builder
	text.WriteString(`{"messages":[`)
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"id":%d,"text":"some words that stand here"}`, i)
	}
	text.WriteString(`],"step":0}`)
	return text.String()
}

const onePlace = `[{"op":"replace","path":"/step","value":1},{"op":"add","path":"/messages/500/seen","value":true},{"op":"remove","path":"/messages/500/seen"}]`

// BenchmarkApply patches one place of documents of two sizes: the cost must be the patch's, not the document's.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		text := wide(n)
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			d, err := New([]byte(text))
			if err != nil {
				b.Fatal(err)
			}
			if err := d.Apply([]byte(onePlace)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Apply([]byte(onePlace)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRatioApply has patches of 3 and of 300 operations on a document of 100,000 objects (5 MB), by turns, against a patch
// of 3 on one of 1,000, and against encoding/json reading the large document, which any patch of decoded values begins with.
func BenchmarkRatioApply(b *testing.B) {
	long := "[" + strings.Repeat(strings.Trim(onePlace, "[]")+",", 99) + strings.Trim(onePlace, "[]") + "]"
	small, large := open(b, wide(1000)), open(b, wide(100000))
	least := map[string]time.Duration{}
	timed := func(name string, f func()) {
		begin := time.Now()
		f()
		if d := time.Since(begin); least[name] == 0 || d < least[name] {
			least[name] = d
		}
	}
	apply := func(d *Document, patch string) func() {
		return func() {
			if err := d.Apply([]byte(patch)); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		timed("small", apply(small, onePlace))
		timed("large", apply(large, onePlace))
		timed("long", apply(large, long))
	}
	text := []byte(wide(100000))
	timed("json", func() {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(least["small"]), "3-ops-of-50kB-ns")
	b.ReportMetric(float64(least["large"]), "3-ops-of-5MB-ns")
	b.ReportMetric(float64(least["long"]), "300-ops-of-5MB-ns")
	b.ReportMetric(float64(least["json"]), "json-decode-of-5MB-ns")
	b.ReportMetric(float64(least["large"])/float64(least["small"]), "x-for-100x-document")
	b.ReportMetric(float64(least["long"])/float64(least["large"]), "x-for-100x-patch")
}

// open is a document whose places the patch has been to once.
func open(b *testing.B, text string) *Document {
	b.Helper()
	d, err := New([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	if err := d.Apply([]byte(onePlace)); err != nil {
		b.Fatal(err)
	}
	return d
}
