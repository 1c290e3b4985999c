package agjson

// Reencode reads data as a consumer does, unknown kinds kept, and writes it again.
func Reencode(schema string, data []byte) (out []byte, err error) {
	d := newDecoder(schema, data)
	defer d.free()
	err = d.whole(func() error {
		out, err = allSchemas[schema].again(d, nil)
		return err
	})
	return out, err
}

// Unescaped is the string that the JSON string data stands for.
func Unescaped(data []byte) (string, error) {
	d := newDecoder("JsonValue", data)
	defer d.free()
	var s string
	err := d.whole(func() error { return decodeString(d, &s) })
	return s, err
}
