package config

import (
	"fmt"
	"io"
	"strings"
)

// helpWidth is where help text wraps, in columns.
const helpWidth = 88

// Help writes every setting, in the order of definition, with its flag, variable,
// meaning, range and default, and how the sources rank.
func (s *Set) Help(w io.Writer) error {
	var b strings.Builder
	for _, sec := range s.sections {
		fmt.Fprintf(&b, "%s:\n", sec.title)
		for _, v := range sec.settings {
			writeSetting(&b, v.info())
		}
		b.WriteByte('\n')
	}
	b.WriteString("General:\n")
	writeSetting(&b, info{name: configName, kind: "path",
		help: "YAML file of settings: a mapping from the names above, without the dashes, to values"})
	fmt.Fprintf(&b, "  --help\n")
	wrap(&b, "This text.")
	b.WriteByte('\n')
	b.WriteString("A flag wins over the environment, the environment over the file, the file over the default.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeSetting(b *strings.Builder, in info) {
	flag := "  --" + in.name
	if in.kind != "" {
		flag += " " + in.kind
	}
	if in.flagOnly {
		b.WriteString(flag + "\n")
	} else {
		fmt.Fprintf(b, "%-42s  %s\n", flag, EnvName(in.name))
	}
	text := sentence(in.help)
	if in.limits != "" {
		text += " " + sentence(in.limits)
	}
	switch {
	case in.required:
		text += " Required."
	case in.def != "":
		text += " Default " + in.def + "."
	}
	wrap(b, text)
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func wrap(b *strings.Builder, text string) {
	const indent = "        "
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > helpWidth && line != indent {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
