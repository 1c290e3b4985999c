package e2e_test

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// metric is the value of a series on a service's /metrics, 0 where there is none; name is as it is spelt there, with its labels.
func (s *system) metric(t testing.TB, service, name string) float64 {
	t.Helper()
	resp, err := http.Get(s.url(service) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return v
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return 0
}
