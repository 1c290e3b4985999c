package app

import (
	"slices"

	"go.uber.org/zap/zapcore"
)

// identity is a core under which each line has one svc and at most one worker: where a logger was made from another one and
// both were given the field, the inner one's holds.
type identity struct {
	zapcore.Core
	fields []zapcore.Field // svc, worker
}

func isIdentity(f zapcore.Field) bool { return f.Key == "svc" || f.Key == "worker" }

// With keeps identifying fields back, and replaces those of the same key.
func (c *identity) With(fields []zapcore.Field) zapcore.Core {
	own, others := merge(c.fields, fields)
	return &identity{Core: c.Core.With(others), fields: own}
}

// Check has the line written through this core.
func (c *identity) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write puts the identifying fields before the line's own.
func (c *identity) Write(e zapcore.Entry, fields []zapcore.Field) error {
	own, others := merge(c.fields, fields)
	return c.Core.Write(e, append(own, others...))
}

// merge splits fields, and joins the identifying ones with those that were there. It keeps neither slice.
func merge(have, fields []zapcore.Field) (own, others []zapcore.Field) {
	own = slices.Clone(have)
	for _, f := range fields {
		if !isIdentity(f) {
			others = append(others, f)
			continue
		}
		if i := slices.IndexFunc(own, func(o zapcore.Field) bool { return o.Key == f.Key }); i >= 0 {
			own[i] = f
		} else {
			own = append(own, f)
		}
	}
	return own, others
}
