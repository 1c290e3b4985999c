package agjson

import "encoding/json"

// Items are the items of the JSON array data, as they came. They alias data. An error is an ErrMalformed. Items nest at most
// MaxDepth by themselves, and are at most MaxItems.
func Items(data []byte) ([]json.RawMessage, error) {
	d := newDecoder("JsonValue", data)
	defer d.free()
	d.depth = -1
	var list []json.RawMessage
	if err := d.end(d.rawItems(&list)); err != nil {
		return nil, err
	}
	return list, nil
}

func (d *decoder) rawItems(list *[]json.RawMessage) error {
	if d.peek() != '[' {
		return d.wrong("want an array")
	}
	d.open()
	for {
		more, ok := d.nextItem(len(*list) == 0)
		if !ok {
			return d.syntax()
		}
		if !more {
			return nil
		}
		start := d.i
		if !d.skip() {
			return d.syntax()
		}
		*list = append(*list, d.from(start))
		if err := d.count(); err != nil {
			return err
		}
	}
}
