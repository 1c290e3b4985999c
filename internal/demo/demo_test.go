package demo

import "testing"

// Every recording that a conversation names is there and is frames.
func TestRecordings(t *testing.T) {
	n, err := Frames()
	if err != nil || n < 500 {
		t.Fatalf("%d frames, %v", n, err)
	}
	seen := map[string]bool{}
	for _, c := range conversations() {
		if seen[c.thread] {
			t.Errorf("thread %s twice", c.thread)
		}
		seen[c.thread] = true
	}
}
