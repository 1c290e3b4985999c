package agjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

func TestItems(t *testing.T) {
	deep := strings.Repeat("[", agjson.MaxDepth) + strings.Repeat("]", agjson.MaxDepth)
	for in, want := range map[string][]string{
		" [ ] ": nil, `[1,"a,]",{"b":[2]} , null]`: {"1", `"a,]"`, `{"b":[2]}`, "null"}, "[[]]": {"[]"}, "[" + deep + "]": {deep},
	} {
		got, err := agjson.Items([]byte(in))
		if err != nil || fmt.Sprintf("%s", got) != fmt.Sprint(want) {
			t.Errorf("%.40s: %v, %s", in, err, got)
		}
	}
	for _, in := range []string{"", "{}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]x", "[1]]", "[tru]", "[[" + deep + "]]", "\"[]\"", "[" + strings.Repeat("0,", agjson.MaxItems) + "0]"} {
		if got, err := agjson.Items([]byte(in)); !errors.Is(err, agjson.ErrMalformed) || got != nil {
			t.Errorf("%.40s: %v, %s", in, err, got)
		}
	}
}
