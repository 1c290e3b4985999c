package app

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// NewLogger writes lines to w, which several goroutines may then share. Format is
// "json" or "console", level "debug", "info", "warn" or "error".
//
// A line has one svc and at most one worker: where a logger and the one it was made
// from were both given the field, its own holds.
//
// Times are UTC with microseconds; a logged error has no stack: it says where by
// what it wraps.
func NewLogger(w io.Writer, format, level string) (*zap.Logger, error) {
	min, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	enc := zapcore.EncoderConfig{
		TimeKey: "ts", LevelKey: "level", MessageKey: "msg", NameKey: "svc",
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
		EncodeTime:     encodeTime("2006-01-02T15:04:05.000000Z07:00"),
	}
	var encoder zapcore.Encoder
	switch format {
	case "json":
		encoder = zapcore.NewJSONEncoder(enc)
	case "console":
		enc.EncodeTime = encodeTime("15:04:05.000")
		enc.EncodeLevel = zapcore.CapitalLevelEncoder
		enc.ConsoleSeparator = " "
		encoder = zapcore.NewConsoleEncoder(enc)
	default:
		return nil, fmt.Errorf("log format: neither json nor console")
	}
	return zap.New(&identity{Core: zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), min)},
		zap.ErrorOutput(zapcore.Lock(zapcore.AddSync(w)))), nil
}

func encodeTime(layout string) zapcore.TimeEncoder {
	return func(t time.Time, enc zapcore.PrimitiveArrayEncoder) { enc.AppendString(t.UTC().Format(layout)) }
}
