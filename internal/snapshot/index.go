package snapshot

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Entry is a thread in the index.
type Entry struct {
	Thread   string
	Active   time.Time // its last known activity, to the microsecond
	Stored   bool      // its position is there; if not, it can be rebuilt from the log
	Position Position  // zero unless Stored; may be newer than Active
}

// Page is a part of the index.
type Page struct {
	Entries []Entry
	Next    string // cursor of what follows; "" at the end
}

// A page looks at no more entries than this, so that a rare prefix does not hold the server up.
const pageBudget = 10_000

// MaxPage is the largest page of [Store.List].
const MaxPage = 1000

// List reads the threads whose id starts with prefix ("" = all), newest activity first, at most limit (1 to MaxPage) of
// them after cursor ("" = from the newest). A page may be short, even empty, while Next is not "": deleted threads are left
// out, and a rare prefix is searched for in steps.
//
// Paging goes by (activity, id), not by number: while threads become active between two pages, no other thread is left
// out or repeated. A thread that becomes active itself moves before the cursor, and is found by listing again from the
// start. Errors: [ErrCursor].
func (s *Store) List(ctx context.Context, cursor string, limit int, prefix string) (Page, error) {
	if limit < 1 || limit > MaxPage {
		return Page{}, fmt.Errorf("list threads: limit: want 1 to %d", MaxPage)
	}
	score, member, err := parseCursor(cursor)
	if err != nil {
		return Page{}, fmt.Errorf("list threads: %w", err)
	}
	got, err := s.page.Run(ctx, s.client, []string{s.indexKey()}, score, member, limit, prefix, pageBudget).Slice()
	if err != nil {
		return Page{}, fmt.Errorf("list threads: %w", err)
	}
	page, err := parsePage(got)
	if err != nil {
		return Page{}, fmt.Errorf("list threads: %w", err)
	}
	threads := make([]string, len(page.Entries))
	for i, e := range page.Entries {
		threads[i] = e.Thread
	}
	heads, err := s.heads(ctx, threads)
	if err != nil {
		return Page{}, fmt.Errorf("list threads: load positions: %w", err)
	}
	var ghosts []Entry
	page.Entries = slices.DeleteFunc(page.Entries, func(e Entry) bool {
		if heads[e.Thread].deleted {
			ghosts = append(ghosts, e)
			return true
		}
		return false
	})
	for i := range page.Entries {
		h := heads[page.Entries[i].Thread]
		page.Entries[i].Stored, page.Entries[i].Position = h.stored, h.position
	}
	// A writer that lost to a deletion may have left these; see the package's documentation.
	for _, e := range ghosts {
		if err := s.dropFromIndex(ctx, e.Thread, e.Active.UnixMicro()); err != nil {
			return Page{}, fmt.Errorf("list threads: %w", err)
		}
	}
	return page, nil
}

// Touch raises threads in the index to an activity, as [Store.Apply] does, without storing anything: with it an index
// that was lost is rebuilt from the log's own list of threads. It never lowers an activity, and may be repeated. Deleted
// threads may be named; [Store.List] hides them.
func (s *Store) Touch(ctx context.Context, active map[string]time.Time) error {
	all := make([]redis.Z, 0, len(active))
	for thread, at := range active {
		if err := checkThread(thread); err != nil {
			return fmt.Errorf("raise in index: %w", err)
		}
		us := at.UnixMicro()
		if us <= 0 || us > maxScore {
			return fmt.Errorf("raise in index: activity out of range")
		}
		all = append(all, redis.Z{Score: float64(us), Member: thread})
	}
	for part := range slices.Chunk(all, headsAtOnce) {
		if err := s.client.ZAddGT(ctx, s.indexKey(), part...).Err(); err != nil {
			return fmt.Errorf("raise in index: %w", err)
		}
	}
	return nil
}

// Count is how many threads the index has, deleted ones that were not noticed yet included.
func (s *Store) Count(ctx context.Context) (int64, error) {
	n, err := s.client.ZCard(ctx, s.indexKey()).Result()
	if err != nil {
		return 0, fmt.Errorf("count threads: %w", err)
	}
	return n, nil
}

// dropFromIndex removes a thread unless it was active after the time.
func (s *Store) dropFromIndex(ctx context.Context, thread string, active int64) error {
	if err := s.unlist.Run(ctx, s.client, []string{s.indexKey()}, thread, active).Err(); err != nil {
		return fmt.Errorf("remove from index: %w", err)
	}
	return nil
}

func parsePage(got []any) (Page, error) {
	malformed := fmt.Errorf("malformed answer of the script")
	if len(got) < 3 || len(got)%2 == 0 {
		return Page{}, malformed
	}
	more, ok := got[0].(int64)
	if !ok {
		return Page{}, malformed
	}
	var page Page
	for i := 1; i < len(got); i += 2 {
		score, ok1 := got[i].(string)
		thread, ok2 := got[i+1].(string)
		if !ok1 || !ok2 {
			return Page{}, malformed
		}
		if i == 1 && more == 0 {
			continue // the last entry looked at: of no use at the end
		}
		at, err := strconv.ParseFloat(score, 64)
		if err != nil {
			return Page{}, malformed
		}
		if i == 1 {
			page.Next = formatCursor(int64(at), thread)
			continue
		}
		page.Entries = append(page.Entries, Entry{Thread: thread, Active: time.UnixMicro(int64(at)).UTC()})
	}
	return page, nil
}

func formatCursor(score int64, thread string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(score, 10) + ":" + thread))
}

func parseCursor(cursor string) (score, thread string, err error) {
	if cursor == "" {
		return "", "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", "", ErrCursor
	}
	score, thread, ok := strings.Cut(string(raw), ":")
	n, err := strconv.ParseInt(score, 10, 64)
	if !ok || err != nil || n <= 0 || n > maxScore || score != strconv.FormatInt(n, 10) || checkThread(thread) != nil {
		return "", "", ErrCursor
	}
	return score, thread, nil
}
