package embedredis_test

import (
	"fmt"
	"strings"

	"github.com/agwire/agwire/internal/embedredis"
)

func Example() {
	srv, err := embedredis.Start(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	fmt.Println(strings.HasPrefix(srv.URL(), "redis://127.0.0.1:"))
	// Output: true
}
