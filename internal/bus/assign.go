package bus

import (
	"hash/fnv"
	"sort"
	"strconv"
)

// assign gives each shard to one of the workers: the same for every caller
// that has the same set, as even as it can be, and with few moves when a
// worker comes or goes. Every shard prefers workers in an order of its own
// (rendezvous hashing); a worker that has its part takes no more.
func assign(shards int, workers []string) map[string][]int {
	out := make(map[string][]int, len(workers))
	if len(workers) == 0 {
		return out
	}
	names := append([]string(nil), workers...)
	sort.Strings(names)
	low, extra := shards/len(names), shards%len(names)
	for s := range shards {
		sort.Slice(names, func(i, j int) bool {
			a, b := weight(names[i], s), weight(names[j], s)
			return a > b || a == b && names[i] < names[j]
		})
		for _, w := range names {
			n := len(out[w])
			if n < low {
				out[w] = append(out[w], s)
				break
			}
			if n == low && extra > 0 {
				extra--
				out[w] = append(out[w], s)
				break
			}
		}
	}
	return out
}

func weight(worker string, shard int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(worker))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(strconv.Itoa(shard)))
	x := h.Sum64()
	// FNV's last bytes barely reach its high bits: mix.
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}
