package agjson

import "bytes"

// EachLine calls f for every line of NDJSON that is not empty, until f fails; that error is returned. A line aliases data.
func EachLine(data []byte, f func(line []byte) error) error {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return err
		}
	}
	return nil
}
