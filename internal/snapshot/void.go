package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Void takes away what is stored of a thread that can no longer be kept, so that nobody takes it for the present one: readers
// get [ErrVoid], and go to the log. The thread stays in the index. at is where the thread has come to; what is stored of a
// newer version is not touched and the outcome is [Stale], after a deletion it is [Deleted], otherwise [Applied]. An [Update]
// of an older version is [Stale] from then on; one of this or a newer version brings the thread back, with Reset. Void may be
// repeated.
func (s *Store) Void(ctx context.Context, thread string, at Position) (Result, error) {
	if err := errors.Join(checkThread(thread), at.validate()); err != nil {
		return Result{}, fmt.Errorf("void snapshot: %w", err)
	}
	active := at.UpdatedAt.UnixMicro()
	answer, err := pair(s.void.Run(ctx, s.client, []string{s.threadKey(thread)}, at.Incarnation, at.First, at.Sequence, active))
	if err != nil {
		return Result{}, fmt.Errorf("void snapshot: %w", err)
	}
	res, err := s.outcome(answer)
	if err != nil {
		return Result{}, fmt.Errorf("void snapshot: %w", err)
	}
	if res.Outcome == Deleted {
		return res, nil
	}
	if err := s.client.ZAddGT(ctx, s.indexKey(), redis.Z{Score: float64(active), Member: thread}).Err(); err != nil {
		return Result{}, fmt.Errorf("void snapshot: raise in index: %w", err)
	}
	return res, nil
}

// parseVoid reads the void field: "<incarnation> <first> <sequence> <activity>".
func parseVoid(text string) (Position, bool) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return Position{}, false
	}
	var n [4]uint64
	for i := range n {
		v, err := strconv.ParseUint(parts[i], 10, 64)
		if err != nil {
			return Position{}, false
		}
		n[i] = v
	}
	if n[3] == 0 || n[3] > maxScore {
		return Position{}, false
	}
	return Position{Version: Version{Incarnation: n[0], First: n[1], Sequence: n[2]}, UpdatedAt: time.UnixMicro(int64(n[3])).UTC()}, true
}
