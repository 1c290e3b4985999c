package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFile bounds the YAML file, in bytes.
const maxFile = 1 << 20

// parseFile reads the YAML file at path, a mapping from setting names to scalars
// or, for a list, to a sequence of scalars. No path is no settings.
func (s *Set) parseFile(path given, known []string) (map[string]given, []Problem) {
	if path.from == "" {
		return nil, nil
	}
	bad := func(reason string) (map[string]given, []Problem) {
		return nil, []Problem{{Name: configName, From: path.from, Reason: reason}}
	}
	data, err := readFile(path.text)
	if err != nil {
		return bad(err.Error())
	}
	root, err := parseYAML(data)
	if err != nil {
		return bad(filepath.Base(path.text) + ": " + err.Error())
	}
	if root == nil {
		return nil, nil
	}
	allowed := slices.Concat(s.Names(), known)
	found := map[string]given{}
	var problems []Problem
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], resolveAlias(root.Content[i+1])
		from := fmt.Sprintf("%s line %d", filepath.Base(path.text), key.Line)
		if !slices.Contains(allowed, key.Value) {
			problems = append(problems, Problem{Name: key.Value, From: from, Reason: "is no setting" + didYouMean(key.Value, allowed)})
			continue
		}
		if _, twice := found[key.Value]; twice {
			problems = append(problems, Problem{Name: key.Value, From: from, Reason: "is given twice"})
			continue
		}
		_, isList := s.find(key.Value).(*ListVar)
		text, err := yamlText(value, isList)
		found[key.Value] = given{text: text, from: from, err: err}
	}
	return found, problems
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("is larger than %s", FormatSize(maxFile))
	}
	return data, nil
}

// parseYAML returns the one mapping of data, or nil when data holds nothing.
func parseYAML(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one document")
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		root = doc.Content[0]
	}
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("is no mapping of settings")
	}
	return root, nil
}

func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// yamlText is the text a flag would have to be given for the same value.
func yamlText(n *yaml.Node, list bool) (string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return "", errors.New(`has no value; write "" for an empty one`)
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	case n.Kind == yaml.SequenceNode && list:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			item = resolveAlias(item)
			switch {
			case item.Kind != yaml.ScalarNode || item.Tag == "!!null":
				return "", fmt.Errorf("item %d is no text", i+1)
			case strings.Contains(item.Value, ","):
				return "", fmt.Errorf("item %d holds a comma", i+1)
			}
			items[i] = item.Value
		}
		if len(items) == 1 && strings.TrimSpace(items[0]) == "" {
			return "", errors.New("item 1 is empty")
		}
		return strings.Join(items, ","), nil
	case list:
		return "", errors.New("is neither a text nor a sequence of texts")
	}
	return "", errors.New("is no single value")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
