package jsonpatch_test

import (
	"fmt"

	"github.com/agwire/agwire/pkg/agjson/jsonpatch"
)

func ExampleDocument() {
	d, err := jsonpatch.New([]byte(`{"n":1e400,"list":[1,2]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = d.Apply([]byte(`[{"op":"add","path":"/list/-","value":3}]`))
	fmt.Println(string(d.Bytes()), err)
	err = d.Apply([]byte(`[{"op":"remove","path":"/list/0"},{"op":"test","path":"/n","value":1}]`))
	fmt.Println(string(d.Bytes()), err)
	// Output:
	// {"n":1e400,"list":[1,2,3]} <nil>
	// {"n":1e400,"list":[1,2,3]} jsonpatch: operation 1: the value is another
}
