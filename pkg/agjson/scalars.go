package agjson

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Number is the text of a JSON number as it came, so that no digit is lost; "" is absent.
type Number string

// IntNumber is the Number of n.
func IntNumber(n int64) Number { return Number(strconv.FormatInt(n, 10)) }

// Int64 is the number as an integer; an error when it is absent, has a fraction, or is beyond an int64.
func (n Number) Int64() (int64, error) { return parseInt(string(n)) }

// Float64 is the number as a float; an error when it is absent or beyond a float64.
func (n Number) Float64() (float64, error) { return strconv.ParseFloat(string(n), 64) }

// Member is one member of an object, its value as it came.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Opaque is a provider's JSON, echoed byte for byte and never shown (SPEC §13.2); nil is absent.
type Opaque []byte

// Format prints the length only, whatever the verb.
func (o Opaque) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "opaque(%d bytes)", len(o)) }

// Secret is a string that proves or unlocks something: a token, a signature, a continuation (SPEC §13.1, §13.2).
type Secret string

// Format prints the length only, whatever the verb.
func (x Secret) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "secret(%d bytes)", len(x)) }

// Confidence is a citation's confidence: one number, or one a supporting chunk. Both empty is absent.
type Confidence struct {
	One  Number
	Many []Number // nil when One is set
}

// SystemPrompt is a run's system prompt: a text, or blocks.
type SystemPrompt struct {
	Text   *string
	Blocks []Block // nil when Text is set
}

// ToolChoice is a run's tool choice: "auto", "none" or "required", or the one tool named.
type ToolChoice struct {
	Mode string // "" when Tool is set
	Tool *NamedTool
}

// NamedTool is the tool that a ToolChoice wants.
type NamedTool struct {
	Name  string
	Extra []Member
}

func decodeConfidence(d *decoder, v *Confidence) error {
	if d.peek() == '[' {
		var err error
		v.Many, err = decodeList(d, decodeNumber)
		return err
	}
	return decodeNumber(d, &v.One)
}

func appendConfidence(dst []byte, v *Confidence) []byte {
	if v.Many != nil {
		return appendList(dst, v.Many, appendNumber)
	}
	return appendNumber(dst, &v.One)
}

func decodeSystemPrompt(d *decoder, v *SystemPrompt) error {
	if d.peek() == '[' {
		var err error
		v.Blocks, err = decodeList(d, decodeBlock)
		return err
	}
	v.Text = new(string)
	return decodeString(d, v.Text)
}

func appendSystemPrompt(dst []byte, v *SystemPrompt) []byte {
	if v.Text != nil {
		return appendText(dst, *v.Text)
	}
	return appendList(dst, v.Blocks, appendBlock)
}

func decodeToolChoice(d *decoder, v *ToolChoice) error {
	if d.peek() == '{' {
		v.Tool = new(NamedTool)
		return d.object(v.Tool, &v.Tool.Extra)
	}
	s, err := d.text()
	if err != nil {
		return err
	}
	switch s {
	case "auto", "none", "required":
		v.Mode = s
		return nil
	}
	return d.wrong("want one of auto, none, required, or a tool")
}

func appendToolChoice(dst []byte, v *ToolChoice) []byte {
	if v.Tool != nil {
		return closeObject(appendExtra(v.Tool.appendMembers(dst), v.Tool.Extra), len(dst))
	}
	return appendText(dst, v.Mode)
}

func (t *NamedTool) decodeMember(d *decoder, name string) (uint64, error) {
	switch name {
	case "type":
		return 1, d.literal("tool")
	case "name":
		return 2, decodeString(d, &t.Name)
	}
	return 0, nil
}

func (t *NamedTool) missing(seen uint64) string {
	switch {
	case seen&1 == 0:
		return "type"
	case seen&2 == 0:
		return "name"
	}
	return ""
}

func (t *NamedTool) appendMembers(dst []byte) []byte {
	return appendText(append(dst, `,"type":"tool","name":`...), t.Name)
}
