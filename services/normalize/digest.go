package normalize

import (
	"encoding/hex"
	"hash"
	"hash/fnv"

	"github.com/agwire/agwire/pkg/agjson"
)

// digest runs over what one normalizer gave, as it gave it, so that a replay by another mapper does not go unseen.
type digest struct {
	h   hash.Hash
	buf []byte
}

func newDigest() digest { return digest{h: fnv.New128a()} }

func (d *digest) add(ev *agjson.Event) {
	d.buf = append(agjson.AppendEvent(d.buf[:0], ev), '\n')
	d.h.Write(d.buf)
}

func (d *digest) String() string { return hex.EncodeToString(d.h.Sum(nil)) }
