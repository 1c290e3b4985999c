package fanout

import "go.uber.org/zap"

// Why says what keeps clients from being taken.
func (s *Service) Why() string {
	if s.ready.Load() && !s.deps.Bus.Connected() {
		return "NATS is not connected"
	}
	return "starting"
}

// redis notes whether Redis has answered, and tells when that changes. Without it, threads are read from the log.
func (s *Service) redis(err error) {
	switch was := s.away.Swap(err != nil); {
	case err != nil && !was:
		s.deps.Log.Warn("redis does not answer, reading threads from the log", zap.Error(err))
	case err == nil && was:
		s.deps.Log.Info("redis answers")
	}
}
