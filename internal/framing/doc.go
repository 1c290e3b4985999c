// Package framing splits a byte stream into native frames: NDJSON, one JSON text a line, or Server-Sent Events, one JSON text
// an event. It checks that each frame is JSON and nothing more; what a frame means is the normalizer's affair. Frames come out
// with the bytes they came in with, however the stream was cut on its way.
//
//	r := framing.NewReader(body, framing.Options{MaxFrame: 8 << 20})
//	for {
//		frame, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//	}
package framing
