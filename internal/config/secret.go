package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// Secret is text that no printer, logger or encoder shows. The zero Secret is
// the empty one. A Secret is immutable and safe for concurrent use.
//
// The text is behind a pointer because fmt cannot call methods on unexported
// fields and would print what stands in the struct itself.
type Secret struct{ text *string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal is the text itself, for the one call that needs it.
func (s Secret) Reveal() string { return reveal(s.text) }

// Empty reports whether there is no text.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String is a fixed word, or nothing for the empty Secret.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return redacted
}

// Format prints [Secret.String] whatever the verb, %#v and %x included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText is [Secret.String], which JSON and YAML encoders use too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func reveal(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// SecretVar is a setting whose value is never shown. A flag is visible to every
// user of the machine: prefer the environment or the file.
type SecretVar struct {
	Name     string  // lower case words joined by "-"
	To       *Secret // where the value goes; never nil
	Help     string  // one sentence without its full stop
	Required bool    // something must give a value, and not an empty one
}

func (v *SecretVar) info() info {
	return info{name: v.Name, help: v.Help, kind: "secret", required: v.Required}
}

func (v *SecretVar) parse(text string) error {
	if v.Required && text == "" {
		return errEmpty
	}
	*v.To = NewSecret(text)
	return nil
}

func (v *SecretVar) useDefault()    { *v.To = Secret{} }
func (v *SecretVar) logged() string { return v.To.String() }
func (v *SecretVar) broken() error  { return nilTarget(v.To == nil) }

// URL is the address of a server, or several comma-separated ones, whose
// credentials no printer, logger or encoder shows. The zero URL is the empty one.
// A URL is immutable and safe for concurrent use.
type URL struct{ text *string }

// NewURL wraps text without checking it.
func NewURL(text string) URL { return URL{&text} }

// Reveal is the text with its credentials, for the one call that needs it.
func (u URL) Reveal() string { return reveal(u.text) }

// Empty reports whether there is no address.
func (u URL) Empty() bool { return u.Reveal() == "" }

// String is the text with user information and query replaced by a fixed word.
func (u URL) String() string {
	if u.Empty() {
		return ""
	}
	parts := strings.Split(u.Reveal(), ",")
	for i, part := range parts {
		parts[i] = redactURL(strings.TrimSpace(part))
	}
	return strings.Join(parts, ",")
}

// Format prints [URL.String] whatever the verb, %#v and %x included.
func (u URL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// MarshalText is [URL.String], which JSON and YAML encoders use too.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

func redactURL(text string) string {
	p, err := url.Parse(text)
	if err != nil || p.Host == "" {
		return redacted
	}
	out := p.Scheme + "://"
	if p.User != nil {
		out += redacted + "@"
	}
	out += p.Host + p.EscapedPath()
	if p.RawQuery != "" || p.Fragment != "" {
		out += "?" + redacted
	}
	return out
}

// URLVar is a setting of a [URL]: absolute, with a host. Unless it is Required,
// the empty text is allowed and means none. A comma in a password is written %2C.
type URLVar struct {
	Name     string   // lower case words joined by "-"
	To       *URL     // where the value goes; never nil
	Default  string   // used when nothing gives a value; "" is none
	Schemes  []string // allowed schemes, lower case, at least one
	Many     bool     // several, comma-separated, are allowed
	Help     string   // one sentence without its full stop
	Required bool     // something must give a value, if there is no default; an empty one is refused
	FlagOnly bool     // no environment variable and no key in the file
}

func (v *URLVar) info() info {
	limits := "scheme " + strings.Join(v.Schemes, ", ")
	if v.Many {
		limits += "; several comma-separated"
	}
	return info{name: v.Name, help: v.Help, kind: "url", def: NewURL(v.Default).String(), limits: limits,
		required: v.Required && v.Default == "", flagOnly: v.FlagOnly}
}

func (v *URLVar) parse(text string) error {
	if text == "" {
		if v.Required {
			return errEmpty
		}
		*v.To = URL{}
		return nil
	}
	parts := strings.Split(text, ",")
	if len(parts) > 1 && !v.Many {
		return errors.New("is several URLs where one is wanted")
	}
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if err := checkURL(part, v.Schemes); err != nil {
			if len(parts) > 1 {
				return fmt.Errorf("URL %d %w", i+1, err)
			}
			return err
		}
		parts[i] = part
	}
	*v.To = NewURL(strings.Join(parts, ","))
	return nil
}

// checkURL says what is wrong without repeating the text, which may hold a password.
func checkURL(text string, schemes []string) error {
	p, err := url.Parse(text)
	if err != nil {
		return errors.New("is no URL")
	}
	if !slices.Contains(schemes, p.Scheme) {
		return fmt.Errorf("has not the scheme %s", strings.Join(schemes, " or "))
	}
	if p.Hostname() == "" {
		return errors.New("has no host")
	}
	return nil
}

func (v *URLVar) useDefault()    { *v.To = NewURL(v.Default) }
func (v *URLVar) logged() string { return v.To.String() }

func (v *URLVar) broken() error {
	var err error
	if len(v.Schemes) == 0 {
		err = errors.New("has no schemes to be of")
	} else if v.Default != "" {
		err = (&URLVar{To: new(URL), Schemes: v.Schemes, Many: v.Many}).parse(v.Default)
	}
	return cmp.Or(nilTarget(v.To == nil), brokenDefault(v.Required && v.Default == "", err))
}
