package subject

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of the number of shards. The upper one keeps the server's own
// asset limits (streams, consumers) far away.
const (
	MinShards = 1
	MaxShards = 1024
)

// MaxPrefix is the largest size of a prefix in bytes.
const MaxPrefix = 32

// Names spells the names of one deployment. The zero value is unusable; make
// one with New. Names is a value: copies are equal and safe for concurrent use.
type Names struct {
	prefix string
	upper  string
	shards int
}

// New returns the names under prefix, which is 1 to MaxPrefix of a-z, 0-9,
// '-' and '_' and begins with a letter, for MinShards to MaxShards shards.
// The error names every bad argument.
func New(prefix string, shards int) (Names, error) {
	var errs []error
	if err := checkPrefix(prefix); err != nil {
		errs = append(errs, err)
	}
	if shards < MinShards || shards > MaxShards {
		errs = append(errs, fmt.Errorf("shards: %d is not in %d to %d", shards, MinShards, MaxShards))
	}
	if err := errors.Join(errs...); err != nil {
		return Names{}, err
	}
	return Names{prefix: prefix, upper: strings.ToUpper(prefix), shards: shards}, nil
}

func checkPrefix(prefix string) error {
	if prefix == "" || len(prefix) > MaxPrefix {
		return fmt.Errorf("prefix: %d bytes is not in 1 to %d", len(prefix), MaxPrefix)
	}
	for i := 0; i < len(prefix); i++ {
		c := prefix[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return fmt.Errorf("prefix: byte %d is not one of a-z, 0-9, '-', '_' after a letter", i)
		}
	}
	return nil
}

// Prefix is the first token of every subject.
func (n Names) Prefix() string { return n.prefix }

// Shards is the number of shards, S.
func (n Names) Shards() int { return n.shards }

// Shard is the shard of a thread, 0 to Shards()-1.
func (n Names) Shard(thread string) int { return n.ShardOfToken(Escape(thread)) }

// ShardOfToken is the shard of an escaped thread: FNV-1a of its bytes modulo
// the shards, as the server's partition() computes it.
func (n Names) ShardOfToken(token string) int {
	h := uint32(2166136261)
	for i := 0; i < len(token); i++ {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return int(h % uint32(n.shards))
}

func (n Names) thread(kind, thread string) string {
	t := Escape(thread)
	return n.prefix + kind + strconv.Itoa(n.ShardOfToken(t)) + "." + t
}

func (n Names) shard(kind string, shard int, rest string) string {
	return n.prefix + kind + strconv.Itoa(shard) + rest
}

// Frames is the subject of the native frames of one invoke.
func (n Names) Frames(thread, invoke string) string {
	return n.thread(".f.", thread) + "." + Escape(invoke)
}

// Inputs is the subject of the inputs of a thread.
func (n Names) Inputs(thread string) string { return n.thread(".i.", thread) }

// Events is the subject of the events of a thread.
func (n Names) Events(thread string) string { return n.thread(".e.", thread) }

// Live is the subject to which the stored events of a thread are republished.
func (n Names) Live(thread string) string { return n.thread(".live.", thread) }

// FramesFilter matches every frame of a shard.
func (n Names) FramesFilter(shard int) string { return n.shard(".f.", shard, ".>") }

// InputsFilter matches every input of a shard.
func (n Names) InputsFilter(shard int) string { return n.shard(".i.", shard, ".>") }

// EventsFilter matches every event message of a shard.
func (n Names) EventsFilter(shard int) string { return n.shard(".e.", shard, ".>") }

// LiveFilter matches every republished event message of a shard.
func (n Names) LiveFilter(shard int) string { return n.shard(".live.", shard, ".>") }

// ControlFilter matches the claims, fillers and checkpoints of a shard.
func (n Names) ControlFilter(shard int) string { return n.shard(".c.", shard, ".>") }

// Beat is the subject on which an open upload of an invoke says that it lives. Nothing stores it.
func (n Names) Beat(thread, invoke string) string {
	return n.thread(".b.", thread) + "." + Escape(invoke)
}

// BeatsFilter matches the beats of a shard.
func (n Names) BeatsFilter(shard int) string { return n.shard(".b.", shard, ".>") }

// Claim is the subject of a shard's claims.
func (n Names) Claim(shard int) string { return n.shard(".c.", shard, ".claim") }

// Filler is the subject of what a claim jumps over.
func (n Names) Filler(shard int) string { return n.shard(".c.", shard, ".filler") }

// Checkpoint is the subject of a shard's checkpoints.
func (n Names) Checkpoint(shard int) string { return n.shard(".c.", shard, ".checkpoint") }

// FramesStream is the stream of a shard's frames and inputs.
func (n Names) FramesStream(shard int) string { return n.upper + "_FRAMES_" + strconv.Itoa(shard) }

// EventsStream is the stream of a shard's events and control messages.
func (n Names) EventsStream(shard int) string { return n.upper + "_EVENTS_" + strconv.Itoa(shard) }

// OwnersBucket is the key-value bucket of the shards' workers.
func (n Names) OwnersBucket() string { return n.upper + "_OWNERS" }

// OwnerKey is the key of one worker of a group in the owners' bucket.
func (n Names) OwnerKey(group, worker string) string {
	return keyToken(group) + "." + keyToken(worker)
}

// OwnerKeys matches every worker of a group in the owners' bucket.
func (n Names) OwnerKeys(group string) string { return keyToken(group) + ".*" }

// OwnerSubject is the subject under which the bucket stores a key.
func (n Names) OwnerSubject(key string) string { return "$KV." + n.OwnersBucket() + "." + key }

// OwnersStream is the stream behind the owners' bucket.
func (n Names) OwnersStream() string { return "KV_" + n.OwnersBucket() }

// keyToken writes a name with the few bytes that a key-value key may have.
func keyToken(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}
