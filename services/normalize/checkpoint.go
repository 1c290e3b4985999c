package normalize

import (
	"encoding/json"
	"fmt"
)

// checkpoint is what a successor needs and the last messages of single threads do not say (DESIGN §3).
type checkpoint struct {
	Version int          `json:"v"`
	Frames  uint64       `json:"frames"` // no frame up to this sequence of the frames stream yields an event after the checkpoint
	Open    []openInvoke `json:"open,omitempty"`
}

// openInvoke names an invoke that has not ended.
type openInvoke struct {
	Thread string `json:"thread"`
	Invoke string `json:"invoke"`
}

const checkpointVersion = 1

func (c checkpoint) encode() ([]byte, error) {
	c.Version = checkpointVersion
	return json.Marshal(c)
}

func decodeCheckpoint(data []byte) (checkpoint, error) {
	var c checkpoint
	if data == nil {
		return c, nil
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return checkpoint{}, fmt.Errorf("read a checkpoint: %w", err)
	}
	if c.Version != checkpointVersion {
		return checkpoint{}, fmt.Errorf("read a checkpoint: version %d, this worker knows %d", c.Version, checkpointVersion)
	}
	return c, nil
}
