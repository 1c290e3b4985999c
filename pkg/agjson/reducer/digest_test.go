package reducer

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/agwire/agwire/pkg/agjson"
)

// TestCanonical has the examples of RFC 8785 §3.2 and what this package decides beyond it.
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`:                                        `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`: `{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		`[0,-0,1e21,1e20,1e-6,1e-7,123456789012345680000,5e-324,1.7976931348623157e308,9007199254740993]`:                                                                                                            `[0,0,1e+21,100000000000000000000,0.000001,1e-7,123456789012345680000,5e-324,1.7976931348623157e+308,9007199254740992]`,
		`[1e400,-1e400]`:            `[1e400,-1e400]`,
		`{"a":1,"b":2,"a":3}`:       `{"a":3,"b":2}`,
		` [ "\ud800" , "\udc00x" ]`: `["\ud800","\udc00x"]`,
	} {
		v, err := agjson.ParseValue([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendCanonical(nil, v)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestDigest: structurally identical results have one digest (SPEC §5 INV-FOLD).
func TestDigest(t *testing.T) {
	one, err := agjson.DecodeReduceResult([]byte(`{"messages":[],"artifacts":[],"memory":[{"scope":"user","value":1.0},{"scope":"agent","value":{"b":1,"a":2}}],"turns":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	two, err := agjson.DecodeReduceResult([]byte(`{"turns":[],"artifacts":[],"memory":[{"scope":"agent","value":{"a":2,"b":1e0}},{"value":1,"scope":"user"}],"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	if Digest(one) != Digest(two) {
		t.Error("one value, two digests")
	}
	two.State = []byte("null")
	if Digest(one) == Digest(two) {
		t.Error("two values, one digest")
	}
	empty := sha256.Sum256([]byte(`{"artifacts":[],"memory":[],"messages":[],"turns":[]}`))
	if got := New().Digest(); got != empty {
		t.Errorf("digest of nothing is %s", hex.EncodeToString(got[:]))
	}
}
